/** State of a process of serve, for its metrics about itself. */

/** Exports that have ended. */
export interface ExportResults {
  readonly success: number;
  readonly failed: number;
  /** Time of all of them. */
  readonly seconds: number;
}

export interface ExporterState {
  readonly exporter: string;
  /** Failed exports, and errors that the exporter threw outside of an export. */
  readonly failures: number;
  /** Undefined for a reader of a user: it reports no exports to serve. */
  readonly results?: ExportResults | undefined;
}

export interface ProcessState {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  readonly openDescriptors: number;
  /** Undefined without a limit. */
  readonly maxDescriptors: number | undefined;
  /** Seconds since the epoch. */
  readonly startSeconds: number;
  readonly uptimeSeconds: number;
}

/**
 * Reasons of a serve with a web configuration. `handshake`: a connection without a request. `connection_limit`: a connection
 * that was closed because too many were open, or too many of its requests waited. `wrong_host`: a request that named another host.
 * `rate_limit`: a request above the limit of the web configuration.
 */
export const REFUSAL_REASONS = [
  'no_credentials',
  'wrong_credentials',
  'no_certificate',
  'wrong_certificate',
  'handshake',
  'busy',
  'connection_limit',
  'wrong_host',
  'rate_limit',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** Effect of a web configuration on the HTTP server. */
export interface AccessCounts {
  /** Refused requests and connections, by reason. */
  readonly refusals: ReadonlyMap<string, number>;
  /** True if changed files cannot be used, so that their earlier contents count. */
  readonly isStale: boolean;
  /** End of the validity of the server's certificate, in seconds since the epoch. Undefined without TLS. */
  readonly certificateExpirySeconds: number | undefined;
}

const ALARMS = [
  'incomplete',
  'failing',
  'ended',
  'slow-transfers',
  'slow-posts',
  'receiver',
  'problem',
  'state',
] as const;
const NOTES = ['ended', 'late-completion', 'busy', 'cold-start', 'uneven', 'quiet', 'unused', 'memory', 'way'] as const;
/** Findings that have a number, 0 while there are none. Announced maintenance makes notes of alarms: those appear when they do. */
export const COUNTED_FINDINGS: readonly Omit<FindingCount, 'count'>[] = [
  ...ALARMS.map((kind) => ({ kind, level: 'alarm' }) as const),
  ...NOTES.map((kind) => ({ kind, level: 'note' }) as const),
];

/** Number of findings of a kind and level. */
export interface FindingCount {
  readonly kind: string;
  readonly level: 'alarm' | 'note';
  readonly count: number;
}

/** Lists the same exporters at each collect, in the same order. */
export interface ServeState {
  readonly exporters: readonly ExporterState[];
  readonly process: ProcessState;
  /** Undefined without a web configuration. */
  readonly access: AccessCounts | undefined;
  /** Without a live page those of slowness. */
  readonly findings?: readonly FindingCount[] | undefined;
}
