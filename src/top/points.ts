/** Points over time, for graphs: rates and percentiles between two times. */
import type { ExponentialTally } from '../ground/exponential.js';
import type { Rates } from '../view/model/rows.js';

/** Bytes, transfers and failed operations per second; microseconds; 1 while numbers are too low. */
export const FIELDS = ['tx', 'rx', 'requests', 'errors', 'p50', 'p90', 'p99', 'tooLow'] as const;
export type Field = (typeof FIELDS)[number];
/** Undefined: unknown. */
export type PastValues = Readonly<Record<Field, number | undefined>>;

/** Returns rates under the names of the history. */
export function measuresOf(rates: Rates) {
  const { txBytesPerSecond: tx, rxBytesPerSecond: rx, requestsPerSecond: requests, errorsPerSecond: errors } = rates;
  return { tx, rx, requests, errors };
}

/** Times are milliseconds since the epoch. */
export interface PastPoint {
  readonly fromMs: number;
  readonly toMs: number;
  readonly values: PastValues;
}

/** Counts of the transfers that ended between two times, by transfer time in microseconds. */
export interface TimedCounts {
  readonly fromMs: number;
  readonly toMs: number;
  readonly counts: ExponentialTally;
}

/** Points that serve has recorded, oldest first. */
export interface Past {
  /** Time of the newest ones, by the clock of all of them. */
  readonly takenMs: number;
  readonly fleet: readonly PastPoint[];
  /** Transfer times of all agents: unlike percentiles, those of several hosts can be added. */
  readonly transferTimes: readonly TimedCounts[];
  /** By id. */
  readonly agents: ReadonlyMap<string, readonly PastPoint[]>;
}
