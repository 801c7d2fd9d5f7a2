/** The settings of `serve`: one row each. */
import { InvalidArgumentError } from 'commander';
import { CONFIG_VARIABLE, type FileOptions } from '../../settings/config-file.js';
import { DEFAULT_DRAIN_INTERVAL_MS, drainIntervalFor, type Environment } from '../../settings/environment.js';
import { LONGEST_MS } from '../../settings/settings.js';
import {
  DEFAULT_NIXL_LABELS,
  DEFAULT_NIXL_RELEASE,
  type Naming,
  NAMINGS,
  NIXL_LABELS,
  NIXL_RELEASES,
  type NixlLabels,
  type NixlRelease,
} from '../../mapping/index.js';
import { DEFAULT_HOST, DEFAULT_PORT, hostName, listOf, notEmpty, oneOf, wholeNumber } from '../options.js';
import { LOG_FORMATS, type LogFormat } from '../process/output.js';
import { nixlExporter, NIXL_PORT, onOrOff } from './nixl-environment.js';
import { hasOtlpEndpoint, httpUrl, type Protocol, PROTOCOLS } from './otlp-environment.js';

const TEMPORALITIES = ['cumulative', 'delta', 'lowmemory'] as const;
const ON_OFF = ['on', 'off'] as const;
export type TemporalityPreference = (typeof TEMPORALITIES)[number];
export type OnOff = (typeof ON_OFF)[number];

export interface ServeSettings {
  /** A configuration file. */
  config?: string;
  dir?: string[];
  exporter: string[];
  exporterDir?: string;
  host: string;
  port: number;
  naming: Naming;
  nixlRelease: NixlRelease;
  nixlLabels: NixlLabels;
  /** All times are milliseconds. */
  drainInterval: number;
  deadTtl: number;
  idleTtl?: number;
  /** User ids. */
  owner?: number[];
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
  /** Variables that the exporter reads by itself: they go before the file too. */
  readonly readElsewhere?: readonly string[];
  /** What the configuration file calls it outside of its section `serve`; elsewhere it is the key. */
  readonly option?: keyof FileOptions;
  /** What it may be, where that is one of a few words. */
  readonly words?: readonly string[];
}

/** Longer than a signed 32-bit number of milliseconds, and a timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
const TIMER = wholeNumber(1, MAX_TIMER_MS);
const SECONDS = wholeNumber(0, Math.floor(LONGEST_MS / 1000));

export const SETTINGS: readonly SettingRow[] = [
  {
    key: 'config',
    flag: '--config <file>',
    description: 'a configuration file, YAML or JSON',
    parse: notEmpty('a path'),
    environment: [{ variable: CONFIG_VARIABLE }],
  },
  {
    key: 'dir',
    option: 'directories',
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
    description:
      'prometheus, otlp, console, or the path or package of your own; several with commas between them, or the flag repeated',
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
    parse: hostName,
    default: DEFAULT_HOST,
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
    default: DEFAULT_PORT,
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
    option: 'naming',
    flag: '--naming <names>',
    description: "nixl: the names of NIXL's own exporter; otel: dotted names, UCUM units",
    parse: oneOf(NAMINGS),
    default: 'nixl',
  },
  {
    key: 'nixlRelease',
    option: 'nixlRelease',
    flag: '--nixl-release <release>',
    description: `NIXL release whose names and labels the series agent_* have: ${NIXL_RELEASES.join(', ')}; naming nixl`,
    parse: oneOf(NIXL_RELEASES),
    default: DEFAULT_NIXL_RELEASE,
  },
  {
    key: 'nixlLabels',
    option: 'nixlLabels',
    flag: '--nixl-labels <exporter>',
    description:
      'labels of the series agent_*: prometheus, or prometheus_mp, which adds pid, agent_instance, local_rank; naming nixl',
    parse: oneOf(NIXL_LABELS),
    default: DEFAULT_NIXL_LABELS,
    environment: [
      {
        variable: 'NIXL_TELEMETRY_EXPORTER',
        parse: (text) => (text.toLowerCase() === 'prometheus_mp' ? 'prometheus_mp' : undefined),
      },
    ],
  },
  {
    key: 'drainInterval',
    option: 'drainIntervalMs',
    flag: '--drain-interval <ms>',
    description: 'empty the rings this often',
    parse: wholeNumber(1, 10_000),
    default: DEFAULT_DRAIN_INTERVAL_MS,
    environment: [{ variable: 'NIXL_TELEMETRY_RUN_INTERVAL', parse: (text) => drainIntervalFor(wholeNumber(1)(text)) }],
  },
  {
    key: 'deadTtl',
    option: 'deadTtlMs',
    flag: '--dead-ttl <ms>',
    description: 'keep the last values of a dead agent this long, and until every exporter has had them',
    parse: wholeNumber(0, LONGEST_MS),
    default: 30_000,
    environment: [{ variable: 'NIXL_TELEMETRY_MP_STALE_TTL', parse: (text) => SECONDS(text) * 1000 }],
  },
  {
    key: 'idleTtl',
    option: 'idleTtlMs',
    flag: '--idle-ttl <ms>',
    description: 'drop agents of unknown life after this long without an event (default: never)',
    parse: wholeNumber(1, LONGEST_MS),
  },
  {
    key: 'owner',
    option: 'owners',
    flag: '--owner <uid>',
    description: 'read only rings that this user (a number) owns; may be repeated (default: of anyone)',
    parse: listOf(wholeNumber(0, 2 ** 32 - 2)),
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
    description: 'give up a push after this long; at most nine tenths of the export interval',
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
    readElsewhere: ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    flag: '--otlp-endpoint <url>',
    description: 'where OTLP goes; without it to localhost, port 4318, or 4317 with grpc',
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
    words: PROTOCOLS,
    flag: '--otlp-protocol <protocol>',
    description: 'http/protobuf, http/json or grpc',
    parse: oneOf(PROTOCOLS),
    default: 'http/protobuf',
    environment: [{ variable: 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL' }, { variable: 'OTEL_EXPORTER_OTLP_PROTOCOL' }],
  },
  {
    key: 'temporality',
    words: TEMPORALITIES,
    flag: '--temporality <preference>',
    description: 'of OTLP: cumulative, delta or lowmemory',
    parse: (text) => oneOf(TEMPORALITIES)(text.toLowerCase()),
    default: 'cumulative',
    environment: [{ variable: 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE' }],
  },
  {
    key: 'page',
    words: ON_OFF,
    flag: '--page <on-or-off>',
    description: 'the live page for browsers at /',
    parse: oneOf(ON_OFF),
    default: 'on',
  },
  {
    key: 'logFormat',
    words: LOG_FORMATS,
    flag: '--log-format <format>',
    description: 'of the lines on stderr: text or json',
    parse: oneOf(LOG_FORMATS),
    default: 'text',
  },
];

/** A flag that is repeated adds to what it said before. */
function names(text: string, before: readonly string[] = []): string[] {
  const list = text.split(',').map((name) => name.trim());
  if (list.includes('')) throw new InvalidArgumentError('Allowed: names with commas between them.');
  const all = [...new Set([...before, ...list])];
  if (all.length > 1 && all.includes('none')) {
    throw new InvalidArgumentError('Allowed: none alone, or exporters without none.');
  }
  return all;
}

/** NIXL's Prometheus exporter takes `ip:port` there. */
function addressIn(text: string, environment: Environment): { host: string; port: number } | undefined {
  if (nixlExporter(environment)?.kind !== 'prometheus') return undefined;
  const [, host, port] = /^(\[.*\]|[^:]+):(\d+)$/.exec(text) ?? [];
  if (host === undefined) {
    throw new InvalidArgumentError('Allowed with the exporter prometheus: address:port, or [address]:port with IPv6.');
  }
  return { host: hostName(host), port: wholeNumber(0, 65_535)(port!) };
}

/** With NIXL's exporter otlp it is an address as OTLP's own variables have it, with or without the scheme; those go before. */
function collectorIn(text: string, environment: Environment): string | undefined {
  if (nixlExporter(environment)?.kind !== 'otlp' || hasOtlpEndpoint(environment)) return undefined;
  const isBare = /^(\[[^\]/]*\]|[^:/?#\s]+)(:\d+)?(\/.*)?$/.test(text);
  try {
    return httpUrl(isBare ? `http://${text}` : text);
  } catch {
    throw new InvalidArgumentError(
      'Allowed with the exporter otlp: host:port, or a URL that begins with http:// or https://.',
    );
  }
}
