/** Settings that an agent cannot use, with what NIXL does then. test/real/nixl-settings.test.ts checks each row on NIXL's wheels. */

export interface AgentStop {
  /** In words, for people. */
  readonly setting: string;
  /** First release whose agent raises, so that an engine does not start. */
  readonly raisesSince: string;
  /** What earlier releases do; absent if all that are known raise. */
  readonly before?: string;
  /** Of the error that NIXL raises: people search for it. */
  readonly words: string;
  /** Variables of an example. DIR and MISSING are directories, of which one does not exist; FILE is a configuration file. */
  readonly example: Readonly<Record<string, string>>;
  /** Text of FILE. */
  readonly file?: string;
}

const ON = { NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_DIR: 'DIR' };
const NO_EXPORTER = 'Failed to create telemetry exporter: BUFFER';
const FIRST = '1.0.1';

export const AGENT_STOPS = {
  directory: {
    setting: '`NIXL_TELEMETRY_DIR` that does not exist, or that the agent may not write',
    raisesSince: '1.4.0',
    before: 'run on without a ring',
    words: NO_EXPORTER,
    example: { ...ON, NIXL_TELEMETRY_DIR: 'MISSING' },
  },
  bufferSize: {
    setting: '`NIXL_TELEMETRY_BUFFER_SIZE` that is no power of two, such as 5000',
    raisesSince: '1.4.0',
    before: 'run on, and leave a file with an empty header',
    words: NO_EXPORTER,
    example: { ...ON, NIXL_TELEMETRY_BUFFER_SIZE: '5000' },
  },
  noBuffer: {
    setting: '`NIXL_TELEMETRY_BUFFER_SIZE=0`',
    raisesSince: FIRST,
    words: 'Telemetry buffer size cannot be 0',
    example: { ...ON, NIXL_TELEMETRY_BUFFER_SIZE: '0' },
  },
  number: {
    setting: 'a number that is none or empty, such as `NIXL_TELEMETRY_BUFFER_SIZE=4k`',
    raisesSince: FIRST,
    words: 'Invalid integer string',
    example: { ...ON, NIXL_TELEMETRY_BUFFER_SIZE: '' },
  },
  exporter: {
    setting: 'a `NIXL_TELEMETRY_EXPORTER` that NIXL does not have, also `buffer` in lower case',
    raisesSince: FIRST,
    words: 'Failed to load telemetry plugin: ',
    example: { ...ON, NIXL_TELEMETRY_EXPORTER: 'buffer' },
  },
  exporterAlone: {
    setting: '`NIXL_TELEMETRY_EXPORTER=BUFFER` without `NIXL_TELEMETRY_DIR`',
    raisesSince: '1.4.0',
    before: 'run on without a ring',
    words: NO_EXPORTER,
    example: { NIXL_TELEMETRY_ENABLE: 'y', NIXL_TELEMETRY_EXPORTER: 'BUFFER' },
  },
  enable: {
    setting: 'a `NIXL_TELEMETRY_ENABLE` that is no such word or empty, such as `ture`',
    raisesSince: FIRST,
    words: 'Conversion to bool failed for string',
    example: { ...ON, NIXL_TELEMETRY_ENABLE: 'ture' },
  },
  configFile: {
    setting: "NIXL's configuration file that is no TOML, or that `NIXL_CONFIG_FILE` names and that is missing",
    raisesSince: '1.2.0',
    before: 'read no file',
    words: 'reading TOML config file',
    example: { NIXL_CONFIG_FILE: 'FILE' },
    file: 'NIXL_TELEMETRY_ENABLE = y',
  },
  configType: {
    setting: 'a string where that file needs a boolean or an integer: `NIXL_TELEMETRY_ENABLE = "y"` for `true`',
    raisesSince: '1.2.0',
    before: 'read no file',
    words: "Invalid TOML type 'string' for",
    example: { NIXL_CONFIG_FILE: 'FILE' },
    file: 'NIXL_TELEMETRY_ENABLE = "y"',
  },
} as const satisfies Readonly<Record<string, AgentStop>>;

/** A sentence: since which release an agent raises, with which words, and what earlier ones do. */
export function stopSentence({ raisesSince, before, words }: AgentStop): string {
  const raises = `an agent raises "${words.trim().replace(/:$/, '')}", so that its engine does not start`;
  if (before === undefined) return `${raises.charAt(0).toUpperCase()}${raises.slice(1)}.`;
  return `Since NIXL ${raisesSince} ${raises}; earlier releases ${before}.`;
}
