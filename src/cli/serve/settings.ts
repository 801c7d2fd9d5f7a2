/**
 * The settings of `serve`: one row each. A flag goes before OpenTelemetry's variables, those before NIXL's, and those
 * before the default. An empty variable is one that is not set.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Naming, NAMINGS } from '../../mapping/index.js';
import { listOf, notEmpty, wholeNumber } from '../options.js';
import { nixlExporter, NIXL_PORT, onOrOff } from './nixl-environment.js';
import { hasOtlpEndpoint, httpUrl } from './otlp-environment.js';

export type Protocol = 'http/protobuf' | 'http/json' | 'grpc';
export type TemporalityPreference = 'cumulative' | 'delta' | 'lowmemory';
export type LogFormat = 'text' | 'json';
export type OnOff = 'on' | 'off';

export interface ServeSettings {
  dir?: string[];
  exporter: string[];
  exporterDir?: string;
  host: string;
  port: number;
  naming: Naming;
  /** All times are milliseconds. */
  drainInterval: number;
  deadTtl: number;
  idleTtl?: number;
  exportInterval: number;
  exportTimeout: number;
  shutdownTimeout: number;
  /** Where the exporter console writes; undefined: on stdout. */
  consoleFile?: string;
  otlpEndpoint?: string;
  otlpProtocol: Protocol;
  temporality: TemporalityPreference;
  page: OnOff;
  logFormat: LogFormat;
}

type Environment = Readonly<Record<string, string | undefined>>;

interface Source {
  readonly variable: string;
  /** From the variable's text; undefined: it says nothing about this setting. Default: as the flag. */
  readonly parse?: (text: string, environment: Environment) => unknown;
}

export interface SettingRow {
  readonly key: keyof ServeSettings;
  /** As commander writes it. */
  readonly flag: string;
  readonly description: string;
  readonly parse: (text: string, before?: never) => unknown;
  readonly default?: string | number | readonly string[];
  /** In the order in which they count. */
  readonly environment?: readonly Source[];
}

/** Longer than a signed 32-bit number of milliseconds, and a timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const TIMER = wholeNumber(1, MAX_TIMER_MS);

export const SETTINGS: readonly SettingRow[] = [
  {
    key: 'dir',
    flag: '--dir <dir>',
    description: 'directory of rings; may be repeated',
    parse: listOf(notEmpty('a path')),
    environment: [
      { variable: 'NIXL_TELEMETRY_DIR' },
      {
        variable: 'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH',
        parse: (text, env) => (nixlExporter(env)?.kind === 'buffer' ? [text] : undefined),
      },
      { variable: 'NIXL_TELEMETRY_MULTIPROC_DIR' },
    ],
  },
  {
    key: 'exporter',
    flag: '--exporter <names>',
    description: 'prometheus, otlp, console, or the path or package of your own; several with commas between them',
    parse: names,
    default: ['prometheus'],
    environment: [
      { variable: 'OTEL_METRICS_EXPORTER' },
      { variable: 'NIXL_TELEMETRY_EXPORTER', parse: (_, env) => nixlExporter(env)?.exporters },
    ],
  },
  {
    key: 'exporterDir',
    flag: '--exporter-dir <dir>',
    description: 'where an exporter NAME is looked up as NAME.mjs, NAME.js or NAME.cjs before packages are',
    parse: notEmpty('a path'),
    environment: [{ variable: 'NIXL_TELEMETRY_EXPORTER_PLUGIN_DIR' }],
  },
  {
    key: 'host',
    flag: '--host <address>',
    description: 'address to serve on; 0.0.0.0 or :: for all',
    parse: notEmpty('an address or a host name'),
    default: '127.0.0.1',
    environment: [
      { variable: 'OTEL_EXPORTER_PROMETHEUS_HOST' },
      {
        variable: 'NIXL_TELEMETRY_PROMETHEUS_LOCAL',
        parse: (text) => (onOrOff(text) ? '127.0.0.1' : '0.0.0.0'),
      },
      { variable: 'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH', parse: (text, env) => addressIn(text, env)?.host },
      {
        variable: 'NIXL_TELEMETRY_EXPORTER',
        parse: (_, env) => (nixlExporter(env)?.kind === 'prometheus' ? '0.0.0.0' : undefined),
      },
    ],
  },
  {
    key: 'port',
    flag: '--port <number>',
    description: 'port to serve on; 0 takes any free one',
    parse: wholeNumber(0, 65_535),
    default: 9464,
    environment: [
      { variable: 'OTEL_EXPORTER_PROMETHEUS_PORT' },
      { variable: 'NIXL_TELEMETRY_PROMETHEUS_PORT' },
      { variable: 'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH', parse: (text, env) => addressIn(text, env)?.port },
      {
        variable: 'NIXL_TELEMETRY_EXPORTER',
        parse: (_, env) => (nixlExporter(env)?.kind === 'prometheus' ? NIXL_PORT : undefined),
      },
    ],
  },
  {
    key: 'naming',
    flag: '--naming <names>',
    description: "nixl: the names of NIXL's own exporter; otel: dotted names, UCUM units",
    parse: oneOf(NAMINGS),
    default: 'nixl',
  },
  {
    key: 'drainInterval',
    flag: '--drain-interval <ms>',
    description: 'empty the rings this often',
    parse: wholeNumber(1, 10_000),
    default: 20,
    environment: [
      {
        variable: 'NIXL_TELEMETRY_RUN_INTERVAL',
        parse: (text) => Math.max(1, Math.min(20, Math.floor(wholeNumber(1)(text) / 5))),
      },
    ],
  },
  {
    key: 'deadTtl',
    flag: '--dead-ttl <ms>',
    description: 'keep the last values of a dead agent this long, and until every exporter has had them',
    parse: wholeNumber(0),
    default: 30_000,
    environment: [{ variable: 'NIXL_TELEMETRY_MP_STALE_TTL', parse: (text) => wholeNumber(0)(text) * 1000 }],
  },
  {
    key: 'idleTtl',
    flag: '--idle-ttl <ms>',
    description: 'drop agents of unknown life after this long without an event (default: never)',
    parse: wholeNumber(1),
  },
  {
    key: 'exportInterval',
    flag: '--export-interval <ms>',
    description: 'push this often',
    parse: TIMER,
    default: 60_000,
    environment: [{ variable: 'OTEL_METRIC_EXPORT_INTERVAL' }],
  },
  {
    key: 'exportTimeout',
    flag: '--export-timeout <ms>',
    description: 'give up a push after this long; at most the export interval',
    parse: TIMER,
    default: 30_000,
    environment: [{ variable: 'OTEL_METRIC_EXPORT_TIMEOUT' }],
  },
  {
    key: 'shutdownTimeout',
    flag: '--shutdown-timeout <ms>',
    description: 'what the last push of all exporters may take at the end',
    parse: TIMER,
    default: 10_000,
  },
  {
    key: 'consoleFile',
    flag: '--console-file <file>',
    description: 'what the exporter console writes goes to the end of this file instead of stdout',
    parse: notEmpty('a path'),
    environment: [
      {
        variable: 'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH',
        parse: (text, env) => (nixlExporter(env)?.kind === 'console' ? text : undefined),
      },
    ],
  },
  {
    key: 'otlpEndpoint',
    flag: '--otlp-endpoint <url>',
    description: 'where OTLP goes',
    parse: httpUrl,
    environment: [
      // The SDK reads these itself: one is a base, the other the whole address.
      { variable: 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', parse: () => undefined },
      { variable: 'OTEL_EXPORTER_OTLP_ENDPOINT', parse: () => undefined },
      { variable: 'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH', parse: collectorIn },
    ],
  },
  {
    key: 'otlpProtocol',
    flag: '--otlp-protocol <protocol>',
    description: 'http/protobuf, http/json or grpc',
    parse: oneOf<Protocol>(['http/protobuf', 'http/json', 'grpc']),
    default: 'http/protobuf',
    environment: [{ variable: 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL' }, { variable: 'OTEL_EXPORTER_OTLP_PROTOCOL' }],
  },
  {
    key: 'temporality',
    flag: '--temporality <preference>',
    description: 'of OTLP: cumulative, delta or lowmemory',
    parse: (text) => oneOf<TemporalityPreference>(['cumulative', 'delta', 'lowmemory'])(text.toLowerCase()),
    default: 'cumulative',
    environment: [{ variable: 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE' }],
  },
  {
    key: 'page',
    flag: '--page <on-or-off>',
    description: 'the live page for browsers at /',
    parse: oneOf<OnOff>(['on', 'off']),
    default: 'on',
  },
  {
    key: 'logFormat',
    flag: '--log-format <format>',
    description: 'of the lines on stderr: text or json',
    parse: oneOf<LogFormat>(['text', 'json']),
    default: 'text',
  },
];

export function addSettings(command: Command): Command {
  for (const { flag, description, parse, default: value, environment = [] } of SETTINGS) {
    const notes = [
      ...(environment.length === 0 ? [] : [`env: ${environment.map(({ variable }) => variable).join(', ')}`]),
      ...(value === undefined ? [] : [`default: ${value.toString()}`]),
    ];
    const text = notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
    // The default is only told: commander must not say that a flag was given when it was not.
    command.addOption(new Option(flag, text).argParser(parse as () => never));
  }
  return command;
}

/** @throws InvalidArgumentError naming the variable, its value and what is allowed. */
export function settingsOf(flags: Partial<ServeSettings>, environment: Environment): ServeSettings {
  const settings: Record<string, unknown> = {};
  for (const row of SETTINGS) {
    const value = flags[row.key] ?? fromEnvironment(row, environment) ?? row.default;
    if (value !== undefined) settings[row.key] = value;
  }
  return settings as unknown as ServeSettings;
}

function fromEnvironment(row: SettingRow, environment: Environment): unknown {
  for (const { variable, parse = row.parse } of row.environment ?? []) {
    const text = environment[variable];
    if (text === undefined || text === '') continue;
    try {
      const value = (parse as (text: string, environment: Environment) => unknown)(
        text,
        // The flag's parser takes what it had before in this place.
        parse === row.parse ? (undefined as never) : environment,
      );
      if (value !== undefined) return value;
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new InvalidArgumentError(`${variable} is '${text}'. ${error.message}`);
    }
  }
  return undefined;
}

function names(text: string): string[] {
  const list = text.split(',').map((name) => name.trim());
  if (list.includes('')) throw new InvalidArgumentError('Allowed: names with commas between them.');
  return [...new Set(list)];
}

function oneOf<T extends string>(allowed: readonly T[]): (text: string) => T {
  return (text) => {
    if (allowed.includes(text as T)) return text as T;
    throw new InvalidArgumentError(`Allowed: ${allowed.join(', ')}.`);
  };
}

/** NIXL's Prometheus exporter takes `ip:port` there. */
function addressIn(text: string, environment: Environment): { host: string; port: number } | undefined {
  if (nixlExporter(environment)?.kind !== 'prometheus') return undefined;
  const [, host, port] = /^(.+):(\d+)$/.exec(text) ?? [];
  if (host === undefined) throw new InvalidArgumentError('Allowed with the exporter prometheus: address:port.');
  return { host, port: wholeNumber(0, 65_535)(port!) };
}

/** With NIXL's exporter otlp it is an address as OTLP's own variables have it, with or without the scheme; those go before. */
function collectorIn(text: string, environment: Environment): string | undefined {
  if (nixlExporter(environment)?.kind !== 'otlp' || hasOtlpEndpoint(environment)) return undefined;
  return httpUrl(/^https?:/.test(text) ? text : `http://${text}`);
}
