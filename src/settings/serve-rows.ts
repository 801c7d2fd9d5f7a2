/** Settings of `nixl-otel serve` alone, one row each: the section `serve` of a file. */
import { HISTOGRAM_KINDS, histogramVariable } from './histograms.js';
import { LOG_FORMATS, LOG_LEVELS } from './log-words.js';
import {
  addressIn,
  collectorIn,
  exporterVariable,
  onOrOff,
  outputPathOf,
  PORT,
  replacements,
} from './nixl-variables.js';
import { type ListenAddress, listenAddressIn, listenTexts, socketMode } from './listen-address.js';
import { LONGEST_MS } from '../ground/source-limits.js';
import { OPTION_ROWS } from './option-rows.js';
import { fileFields, type FlagValues, type OptionRow, type OptionRows, sectionShape, type Resolution } from './row.js';
import { isModulePath } from './user-module.js';
import {
  filePath,
  hostName,
  httpUrl,
  milliseconds,
  object,
  oneOrMore,
  refuse,
  type Shape,
  value,
  word,
} from './shape.js';

/** A timer with more than a signed 32-bit number of milliseconds fires at once. */
const TIMER = milliseconds(1, 2 ** 31 - 1);

const isName = (given: unknown): boolean => typeof given === 'string' && given !== '';

export const BUILT_IN_EXPORTERS: readonly string[] = ['prometheus', 'otlp', 'console'];
const EXPORTER_WORDS = [...BUILT_IN_EXPORTERS, 'none'];

function exporterWord(text: string): string {
  return EXPORTER_WORDS.find((word) => word === text.trim().toLowerCase()) ?? text;
}

const EXPORTERS: Shape<readonly string[]> = {
  ...value(
    'a text or a non-empty array of texts',
    { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    (given) => [given].flat().every(isName),
  ),
  parse(text, before = []) {
    const names = text.split(',').map((name) => name.trim());
    if (!names.every(isName)) refuse('names with commas between them');
    const all = [...new Set([...(before as string[]), ...names])];
    return all.length > 1 && all.includes('none') ? refuse('none alone, or exporters without none') : all;
  },
};

export const SERVE_ROWS = {
  exporter: {
    shape: EXPORTERS,
    isPath: isModulePath,
    flag: { name: 'exporter', takes: '<names>', repeats: true },
    group: 'Exporters',
    words: EXPORTER_WORDS,
    variables: [
      // OpenTelemetry's words in any case; the path of a module stays as it is.
      { name: 'OTEL_METRICS_EXPORTER', parse: (text) => EXPORTERS.parse!(text.split(',').map(exporterWord).join(',')) },
      exporterVariable(replacements),
    ],
    default: ['prometheus'],
    description:
      '`prometheus`, `otlp`, `console`, the path or package of a custom exporter, several of these with commas between them, or `none`',
  },
  exporterDir: {
    shape: filePath,
    isPath: () => true,
    needs: 'search',
    flag: { name: 'exporterDir', takes: '<dir>' },
    group: 'Exporters',
    variables: [{ name: 'NIXL_TELEMETRY_EXPORTER_PLUGIN_DIR' }],
    description:
      'folder in which `serve` searches an exporter `NAME` as `NAME.mjs`, `NAME.js` or `NAME.cjs`, before it searches packages',
  },
  host: {
    shape: hostName,
    needs: 'server',
    flag: { name: 'host', takes: '<address>' },
    group: 'HTTP server',
    variables: [
      { name: 'OTEL_EXPORTER_PROMETHEUS_HOST' },
      { name: 'NIXL_TELEMETRY_PROMETHEUS_LOCAL', parse: (text) => (onOrOff(text) ? '127.0.0.1' : '0.0.0.0') },
      outputPathOf('prometheus', (text) => addressIn(text).host),
      exporterVariable(({ host }) => host, '`prometheus`: 0.0.0.0'),
    ],
    default: '127.0.0.1',
    description: 'address to serve on; 0.0.0.0 or :: for all addresses',
    details: 'IPv6 with or without brackets: `[::1]`, `::1`.',
  },
  port: {
    shape: PORT,
    needs: 'server',
    flag: { name: 'port', takes: '<number>' },
    group: 'HTTP server',
    variables: [
      { name: 'OTEL_EXPORTER_PROMETHEUS_PORT' },
      { name: 'NIXL_TELEMETRY_PROMETHEUS_PORT' },
      outputPathOf('prometheus', (text) => addressIn(text).port),
      exporterVariable(({ port }) => port, '`prometheus`: 9090'),
    ],
    /** Port that is registered for OpenTelemetry's Prometheus exporter. */
    default: 9464,
    description: 'port to serve on; 0 for any free port',
  },
  listen: {
    shape: listenTexts,
    isList: true,
    flag: { name: 'listen', takes: '<address>', repeats: true },
    group: 'HTTP server',
    defaultText: '`--host` and `--port`',
    description: 'address to serve on, in place of host and port: `host:port`, `[::1]:port`, `:port` or `unix:/path`',
  },
  socketMode: {
    shape: socketMode,
    needs: 'socket',
    flag: { name: 'socketMode', takes: '<mode>' },
    group: 'HTTP server',
    default: '0660',
    description: 'permissions of the Unix sockets of `--listen`, octal',
  },
  allowedHosts: {
    shape: oneOrMore(
      hostName,
      'a host name or an address, without a port, or * for any; or a non-empty array of these',
    ),
    isList: true,
    needs: 'loopback',
    flag: { name: 'allowedHost', takes: '<host>', repeats: true },
    group: 'HTTP server',
    description:
      'further host by which clients may ask for a loopback address, as through a proxy that keeps the name; `*` for any',
    details: '[Hosts](access.md#hosts) has the others.',
  },
  webConfig: {
    shape: filePath,
    isPath: () => true,
    needs: 'server',
    flag: { name: 'webConfig', takes: '<file>' },
    group: 'HTTP server',
    description: 'file with TLS, client certificates and users, in the format of the Prometheus exporter toolkit',
    details: '[Access](access.md) has the format.',
  },
  protectProbes: {
    shape: word(['on', 'off']),
    needs: 'webConfig',
    flag: { name: 'protectProbes', takes: '<on-or-off>' },
    group: 'HTTP server',
    default: 'off',
    description:
      '`on`: /livez and /readyz need the user or the client certificate of `--web-config`; `off`: a client that shows neither gets their status',
  },
  standby: {
    shape: word(['on', 'off']),
    needs: 'port',
    flag: { name: 'standby', takes: '<on-or-off>' },
    group: 'HTTP server',
    default: 'off',
    description: '`on`: if the port is taken, wait until it is free, and only then drain; `off`: exit',
    details: 'For [upgrades](upgrading.md), and for a second `serve` that takes over.',
  },
  exportInterval: {
    shape: TIMER,
    needs: 'push',
    flag: { name: 'exportInterval', takes: '<ms>' },
    group: 'Exporters',
    variables: [{ name: 'OTEL_METRIC_EXPORT_INTERVAL' }],
    default: 60_000,
    description: 'time between two pushes',
  },
  exportTimeout: {
    shape: TIMER,
    needs: 'push',
    flag: { name: 'exportTimeout', takes: '<ms>' },
    group: 'Exporters',
    variables: [{ name: 'OTEL_METRIC_EXPORT_TIMEOUT' }],
    default: 30_000,
    description: 'time limit of a push; at most nine tenths of the export interval',
  },
  shutdownTimeout: {
    shape: TIMER,
    flag: { name: 'shutdownTimeout', takes: '<ms>' },
    group: 'Exporters',
    default: 10_000,
    description: 'time limit of the last export of all exporters, when serve ends',
  },
  consoleFile: {
    shape: filePath,
    isPath: () => true,
    needs: 'console',
    flag: { name: 'consoleFile', takes: '<file>' },
    group: 'Exporters',
    variables: [outputPathOf('console', (text) => text)],
    defaultText: 'stdout',
    description: 'file to which the exporter `console` appends',
  },
  otlpEndpoint: {
    shape: httpUrl,
    needs: 'otlp',
    flag: { name: 'otlpEndpoint', takes: '<url>' },
    group: 'OTLP',
    variables: [
      // The SDK takes the first as a whole address, and the second as a base.
      { name: 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', readBySdk: true },
      { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', readBySdk: true },
      outputPathOf('otlp', collectorIn),
    ],
    defaultText: 'localhost, port 4318, or 4317 with grpc',
    description: 'URL of the OTLP receiver, with or without a path',
  },
  otlpProtocol: {
    shape: word(['http/protobuf', 'http/json', 'grpc'], { lowerCase: true }),
    needs: 'otlp',
    flag: { name: 'otlpProtocol', takes: '<protocol>' },
    group: 'OTLP',
    variables: [{ name: 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL' }, { name: 'OTEL_EXPORTER_OTLP_PROTOCOL' }],
    default: 'http/protobuf',
    description: '`http/protobuf`, `http/json` or `grpc`',
    details: '`grpc` needs `npm install @opentelemetry/exporter-metrics-otlp-grpc`.',
  },
  otlpFindings: {
    shape: word(['on', 'off']),
    needs: 'otlp',
    flag: { name: 'otlpFindings', takes: '<on-or-off>' },
    group: 'OTLP',
    variables: [{ name: 'NIXL_OTEL_OTLP_FINDINGS' }],
    default: 'off',
    description: '`on`: send begins and ends of findings as OTLP log records, to the receiver of the metrics',
    details:
      'Needs `npm install @opentelemetry/exporter-logs-otlp-proto`, `-http` or `-grpc`, by the protocol. [Records](findings.md#as-log-records).',
  },
  temporality: {
    shape: word(['cumulative', 'delta', 'lowmemory'], { lowerCase: true }),
    needs: 'otlp',
    flag: { name: 'temporality', takes: '<preference>' },
    group: 'OTLP',
    variables: [{ name: 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE' }],
    default: 'cumulative',
    description: 'temporality of OTLP: `cumulative`, `delta` or `lowmemory`',
  },
  histograms: {
    shape: word(HISTOGRAM_KINDS),
    needs: 'histograms',
    flag: { name: 'histograms', takes: '<kind>' },
    group: 'Exporters',
    variables: [histogramVariable],
    default: 'explicit',
    description: 'histograms of the exporters `otlp` and `console`: `explicit` buckets, or `exponential`',
    details: 'Text pages keep explicit buckets. A custom exporter selects by its `selectAggregation()`.',
  },
  page: {
    shape: word(['on', 'off']),
    needs: 'server',
    flag: { name: 'page', takes: '<on-or-off>' },
    group: 'HTTP server',
    default: 'on',
    description: 'live page for browsers at /, and its figures at /api/v1/agents: `on` or `off`',
  },
  endedKept: {
    shape: TIMER,
    needs: 'server',
    flag: { name: 'endedKept', takes: '<ms>' },
    group: 'HTTP server',
    default: 3_600_000,
    description: 'time for which agents that ended stay on the page, in `top` and at /api/v1/agents',
    details: 'Their series end after `--dead-ttl`.',
  },
  acceptAfter: {
    shape: TIMER,
    needs: 'server',
    flag: { name: 'acceptAfter', takes: '<ms>' },
    group: 'HTTP server',
    default: 24 * 3_600_000,
    description: 'time after which transfers that became slower for good count as usual',
  },
  sysPath: {
    shape: filePath,
    isPath: () => true,
    needs: 'server',
    flag: { name: 'sysPath', takes: '<dir>' },
    group: 'HTTP server',
    variables: [{ name: 'NIXL_OTEL_SYS_PATH' }],
    default: '/sys',
    description: "the host's /sys, with the counters of its RDMA ports: that of a container has none",
    details: '[Which way](way.md) needs it.',
  },
  state: {
    shape: word(['on', 'off']),
    flag: { name: 'state', takes: '<on-or-off>' },
    group: 'Rings',
    variables: [{ name: 'NIXL_OTEL_STATE' }],
    default: 'on',
    description:
      'state files beside the rings, in `.nixl-otel`, from which the next `serve` continues the sums: `on` or `off`',
  },
  allocatePages: {
    shape: word(['on', 'off']),
    flag: { name: 'allocatePages', takes: '<on-or-off>' },
    group: 'Rings',
    variables: [{ name: 'NIXL_OTEL_ALLOCATE_PAGES' }],
    default: 'on',
    description:
      'allocate the pages that rings of living agents lack, so that they survive if another program fills the tmpfs: `on` or `off`',
    details: 'The pages count as memory of `serve`, at most 64 MiB.',
  },
  removeEndedAfter: {
    shape: milliseconds(1, LONGEST_MS),
    flag: { name: 'removeEndedAfter', takes: '<ms>' },
    group: 'Rings',
    defaultText: 'never',
    description: 'time after which the empty rings of agents that were seen to end are removed',
    details:
      'Only of names that an engine makes anew at each start ([Rings that pile up](limits.md#rings-that-pile-up)).',
  },
  logFormat: {
    shape: word(LOG_FORMATS),
    flag: { name: 'logFormat', takes: '<format>' },
    group: 'Configuration and log',
    default: 'text',
    description: 'format of the lines on stderr, including errors of usage: `text` or `json`',
  },
  logLevel: {
    shape: word(LOG_LEVELS, { lowerCase: true }),
    inFile: false,
    flag: { name: 'logLevel', takes: '<level>' },
    group: 'Configuration and log',
    variables: [{ name: 'OTEL_LOG_LEVEL', readBySdk: true }],
    defaultText: 'info',
    description: 'lowest level on stderr: `error`, `warn`, `info`, `debug`, `verbose` or `none`',
  },
} as const satisfies OptionRows;

/** Rows of `nixl-otel serve` in the order of its flags. */
export const ALL_SERVE_ROWS = { ...OPTION_ROWS, ...SERVE_ROWS };

export type ServeSettings = FlagValues<typeof ALL_SERVE_ROWS>;

export function listenAddresses({ listen, host, port, socketMode: mode }: ServeSettings): readonly ListenAddress[] {
  if (listen === undefined) return [{ host, port }];
  return listen.map((text) => listenAddressIn(text, Number.parseInt(mode, 8)));
}

/** Returns the flags by the keys of their rows. */
export function givenFlags(flags: Partial<ServeSettings>): Record<string, unknown> {
  const byName = flags as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries<OptionRow>(ALL_SERVE_ROWS).map(([key, { flag }]) => [key, flag && byName[flag.name]]),
  );
}

export function serveSettings(resolved: Resolution): ServeSettings {
  const values = Object.entries<OptionRow>(ALL_SERVE_ROWS).flatMap(([key, { flag }]) => {
    const one = resolved.get(key);
    return flag === undefined || one === undefined ? [] : [[flag.name, one.value] as const];
  });
  return Object.fromEntries(values) as unknown as ServeSettings;
}

export const SERVE_SECTION = object(fileFields(SERVE_ROWS, sectionShape));
