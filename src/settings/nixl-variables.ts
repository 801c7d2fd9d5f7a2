/** Parsers of NIXL's variables that depend on other variables, or differ from the value of an option. */
import { DEFAULT_DRAIN_INTERVAL_MS } from '../ground/source-limits.js';
import type { Environment, Variable } from './row.js';
import { hostName, httpUrl, milliseconds, refuse, wholeNumber } from './shape.js';

export const PORT = wholeNumber(0, 65_535);

const DRAINS_PER_FLUSH = 5;
const FLUSH_INTERVAL = milliseconds(1);

/** Returns a fifth of the agents' flush interval, and at most the default. */
export function drainIntervalFor(flushInterval: string): number {
  const flushMs = FLUSH_INTERVAL.parse!(flushInterval.trim());
  return Math.max(1, Math.min(DEFAULT_DRAIN_INTERVAL_MS, Math.floor(flushMs / DRAINS_PER_FLUSH)));
}

const ON = ['y', 'yes', 'on', 'true', 'enable', '1'];
const OFF = ['n', 'no', 'off', 'false', 'disable', '0'];

/** @throws Refusal */
export function onOrOff(text: string): boolean {
  const given = text.toLowerCase();
  return ON.includes(given) || (OFF.includes(given) ? false : refuse([...ON, ...OFF].join(', ')));
}

/** Meaning of NIXL_TELEMETRY_EXPORTER. NIXL's Prometheus exporters listen on all addresses. */
export interface NixlExporter {
  readonly kind: 'buffer' | 'prometheus' | 'otlp' | 'console' | 'none' | 'other';
  readonly exporters: readonly string[];
  readonly host?: string;
  readonly port?: number;
  readonly labels?: string;
}

const PROMETHEUS = { kind: 'prometheus', exporters: ['prometheus'], host: '0.0.0.0', port: 9090 } as const;
const EXPORTERS: Readonly<Record<string, NixlExporter>> = {
  buffer: { kind: 'buffer', exporters: ['prometheus'] },
  prometheus: PROMETHEUS,
  prometheus_mp: { ...PROMETHEUS, labels: 'prometheus_mp' },
  otlp: { kind: 'otlp', exporters: ['otlp'] },
  console: { kind: 'console', exporters: ['console'] },
  nop: { kind: 'none', exporters: ['none'] },
  doca: { kind: 'other', exporters: [] },
};

/** Returns undefined if the variable is not set. */
export function nixlExporter({ NIXL_TELEMETRY_EXPORTER: name }: Environment): NixlExporter | undefined {
  if (!name) return undefined;
  const known = name.toLowerCase();
  return Object.hasOwn(EXPORTERS, known) ? EXPORTERS[known] : { kind: 'other', exporters: [name] };
}

/** @throws Refusal for an exporter of NIXL that this package does not replace. */
export function replacements({ exporters }: NixlExporter): readonly string[] {
  if (exporters.length > 0) return exporters;
  return refuse('prometheus, otlp, console, or a custom module; this package has no DOCA exporter');
}

/** NIXL's choice of an exporter, as a variable of another option. */
export function exporterVariable<T>(read: (exporter: NixlExporter) => T, note?: string): Variable {
  const parse: Variable['parse'] = (_, environment) => read(nixlExporter(environment)!);
  return { name: 'NIXL_TELEMETRY_EXPORTER', parse, ...(note !== undefined && { note }) };
}

/** NIXL's output path as a variable of another option. The exporter decides its meaning. */
export function outputPathOf(kind: NixlExporter['kind'], read: (text: string) => unknown): Variable {
  return {
    name: 'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH',
    parse: (text, environment) => (nixlExporter(environment)?.kind === kind ? read(text) : undefined),
    note: `exporter \`${kind}\``,
  };
}

/** Parses the output path of NIXL's Prometheus exporter. */
export function addressIn(text: string): { host: string; port: number } {
  const [, host, port] = /^(\[.*\]|[^:]+):(\d+)$/.exec(text) ?? [];
  if (host === undefined) {
    return refuse('with the exporter prometheus: address:port, or [address]:port with IPv6');
  }
  return { host: hostName.parse!(host), port: PORT.parse!(port!) };
}

/** Parses the output path of NIXL's OTLP exporter: an address with or without a scheme. */
export function collectorIn(text: string): string {
  const isBare = /^(\[[^\]/]*\]|[^:/?#\s]+)(:\d+)?(\/.*)?$/.test(text);
  const url = isBare ? `http://${text}` : text;
  if (httpUrl.problems(url).length === 0) return url;
  return refuse('with the exporter otlp: host:port, or a URL that begins with http:// or https://');
}
