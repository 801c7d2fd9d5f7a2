/** NIXL's variables whose meaning depends on others or differs from the value of an option. */
import type { Environment } from './row.js';
import { hostName, httpUrl, milliseconds, refuse, wholeNumber } from './shape.js';

/** Default port of NIXL's Prometheus exporters, which listen on all addresses. */
export const NIXL_PORT = 9090;
export const PORT = wholeNumber(0, 65_535);

export const DEFAULT_DRAIN_INTERVAL_MS = 20;
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

export interface NixlExporter {
  readonly kind: 'buffer' | 'prometheus' | 'otlp' | 'console' | 'none' | 'other';
  readonly exporters: string[];
}

/**
 * Returns the meaning of NIXL_TELEMETRY_EXPORTER; undefined if it is not set.
 * @throws Refusal for an exporter of NIXL that this package does not replace.
 */
export function nixlExporter(environment: Environment): NixlExporter | undefined {
  const { NIXL_TELEMETRY_EXPORTER: name } = environment;
  if (name === undefined || name === '') return undefined;
  switch (name.toLowerCase()) {
    case 'buffer':
      return { kind: 'buffer', exporters: ['prometheus'] };
    case 'prometheus':
    case 'prometheus_mp':
      return { kind: 'prometheus', exporters: ['prometheus'] };
    case 'otlp':
      return { kind: 'otlp', exporters: ['otlp'] };
    case 'console':
      return { kind: 'console', exporters: ['console'] };
    case 'nop':
      return { kind: 'none', exporters: ['none'] };
    case 'doca':
      return refuse('prometheus, otlp, console, or a module of the user; DOCA is not among the exporters here');
    default:
      return { kind: 'other', exporters: [name] };
  }
}

/** Parses `address:port`, the output path of NIXL's Prometheus exporter. */
export function addressIn(text: string, environment: Environment): { host: string; port: number } | undefined {
  if (nixlExporter(environment)?.kind !== 'prometheus') return undefined;
  const [, host, port] = /^(\[.*\]|[^:]+):(\d+)$/.exec(text) ?? [];
  if (host === undefined) {
    return refuse('with the exporter prometheus: address:port, or [address]:port with IPv6');
  }
  return { host: hostName.parse!(host), port: PORT.parse!(port!) };
}

/** Parses the output path of NIXL's OTLP exporter: an address with or without a scheme. */
export function collectorIn(text: string, environment: Environment): string | undefined {
  if (nixlExporter(environment)?.kind !== 'otlp') return undefined;
  const isBare = /^(\[[^\]/]*\]|[^:/?#\s]+)(:\d+)?(\/.*)?$/.test(text);
  const url = isBare ? `http://${text}` : text;
  if (httpUrl.problems(url).length === 0) return url;
  return refuse('with the exporter otlp: host:port, or a URL that begins with http:// or https://');
}
