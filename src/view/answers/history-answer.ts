/** The answer of /api/v1/history: the last ten minutes, from serve. docs/json.md describes it for others. */
import type { ExponentialTally } from '../../ground/exponential.js';
import type { API } from './answer.js';

/** Path below the address of the page, as AGENTS_PATH. */
export const HISTORY_PATH = 'api/v1/history';

/** Values of one measure, one for each point; null: unknown, or a gap. */
export type Column = readonly (number | null)[];

/** Each point covers the time since the point before it. A point whose values are null ends a gap. */
export interface HistoryAnswer {
  readonly api: typeof API;
  readonly startedMs: number;
  /** Time of the newest point. */
  readonly takenMs: number;
  /** Ends of the points, milliseconds since the epoch, oldest first. */
  readonly timesMs: readonly number[];
  readonly fleet: FleetColumns;
  /** Counts of the transfer times for a heatmap. */
  readonly transferTimesUs: CountColumns;
  /** Sizes by direction, bytes. */
  readonly txSizes: CountColumns;
  readonly rxSizes: CountColumns;
  /** Oldest first. */
  readonly events: readonly HistoryEvent[];
  /** Restarts of serve, oldest first. An older serve has none. */
  readonly blindSpans?: readonly BlindSpan[];
  /** With `agents=all`: each agent. With `agent=ID`: this one, if it is known. Otherwise empty. */
  readonly agentTimesMs: readonly number[];
  readonly agents: readonly AgentColumns[];
}

/**
 * Rates are per second: bytes, finished transfers, failed operations, drains that found a ring full, dropped events. Those of an agent
 * that flushes rarely are the rates of its last flush.
 */
export interface FleetColumns {
  readonly tx: Column;
  readonly rx: Column;
  readonly requests: Column;
  /** By status, without those that had none. */
  readonly errors: Readonly<Record<string, Column>>;
  readonly full: Column;
  readonly dropped: Column;
  /** Highest fill ratio of a ring, 0 to 1. */
  readonly fill: Column;
  /** Registered memory, bytes. */
  readonly memory: Column;
  /** Microseconds, of the transfers that ended in the time of the point. */
  readonly p50: Column;
  readonly p90: Column;
  readonly p99: Column;
}

/** Points of one agent at `agentTimesMs`. */
export interface AgentColumns {
  readonly id: number;
  readonly tx: Column;
  readonly rx: Column;
  readonly requests: Column;
  readonly errors: Column;
  readonly full: Column;
  /** The highest value within each point, as the percentiles. */
  readonly fill: Column;
  readonly p50: Column;
  readonly p90: Column;
  readonly p99: Column;
}

/**
 * Histograms over time. Column i has the counts of the time up to `timesMs[i]`; null is a gap. `counts[i]` begins with the bucket
 * `offsets[i]` of an exponential histogram of this scale; bucket -1 ends with the value 1, and values of 0 count in the bucket
 * `lowest`.
 */
export interface CountColumns {
  readonly scale: number;
  readonly lowest: number;
  readonly timesMs: readonly number[];
  readonly offsets: readonly number[];
  readonly counts: readonly (readonly number[] | null)[];
}

/** Returns the counts of column i; undefined for a gap. */
export function tallyAt({ scale, offsets, counts }: CountColumns, i: number): ExponentialTally | undefined {
  const found = counts[i];
  return found === null || found === undefined
    ? undefined
    : { scale, zeroCount: 0, offset: offsets[i]!, counts: found };
}

/** Time from the last kept point of one serve to the first sample of the next one: nothing is known of it. */
export interface BlindSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface HistoryEvent {
  readonly kind: 'restarted' | 'ended';
  readonly timeMs: number;
  readonly id: number;
  readonly name: string;
  /** True for an end during transfers. */
  readonly transferring?: boolean;
}
