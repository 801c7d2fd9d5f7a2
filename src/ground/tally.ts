/**
 * Tally of one agent: shm-bridge reads it from native code, mapping makes metrics of it. Types, and NIXL's numbers that
 * both rooms need. Times ending in `Ms` are milliseconds since the Unix epoch unless a field states otherwise.
 */

import type { ExponentialTally } from './exponential.js';

/** NIXL's category numbers, as in native/ring/ring_event.h. */
export const Category = {
  MEMORY: 0,
  TRANSFER: 1,
  CONNECTION: 2,
  BACKEND: 3,
  ERROR: 4,
  PERFORMANCE: 5,
  SYSTEM: 6,
  CUSTOM: 7,
} as const;

export type CategoryNumber = (typeof Category)[keyof typeof Category];

/** Numbers of the event types that make up a transfer, as in native/ring/ring_event.h. */
export const TransferEvent = { TX_BYTES: 0, RX_BYTES: 1, XFER_TIME: 6, XFER_POST_TIME: 7 } as const;

/** `dead`: the collector saw a process that wrote the ring, and it has ended. `unknown`: it sees no such process. */
export type AgentLife = 'alive' | 'dead' | 'unknown';

/** Counts per bucket: `counts[i]` holds values <= `bounds[i]`, the last count all values above. */
export interface HistogramTally {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  /** The same values in exponential buckets. */
  readonly exponential: ExponentialTally;
  /** Time at which the counts were 0, if it is later than that of the agent: an earlier process had other bounds. */
  readonly startTimeMs?: number | undefined;
}

/** Totals of one event key of one agent since the tally began. A key is a type number or a name. */
export interface EventTally {
  /** Type number. Absent for named events that are not in the event table. */
  readonly type?: number;
  /** Name, if the key is a name. */
  readonly name?: string;
  /** NIXL's category number; -1 for the overflow key. */
  readonly category: number;
  /** True if the key is in the event table that the source was opened with. */
  readonly known: boolean;
  /** True for the key that adds up all unknown keys beyond the first 256. */
  readonly overflow: boolean;
  readonly count: number;
  /** Exact. */
  readonly sum: bigint;
  readonly last: bigint;
  /** Present for events of category PERFORMANCE (microseconds), and for events with bounds in TallyOptions. */
  readonly histogram?: HistogramTally & { readonly sum: bigint };
}

/** Completed transfers of one direction, assembled from consecutive events. */
export interface TransferTally {
  readonly count: number;
  /** Bytes. */
  readonly size: HistogramTally & { readonly sum: bigint };
  /** Microseconds. */
  readonly duration: HistogramTally & { readonly sum: bigint };
  /** Bytes per second; transfers that took 0 us are left out. */
  readonly throughput: HistogramTally & { readonly sum: number };
}

/** Times of the transfers of a size class. */
export interface TimesOfClass {
  /** Microseconds, exact. */
  readonly sum: bigint;
  /** Microseconds. */
  readonly exponential: ExponentialTally;
}

/** Transfers of one direction in one class of sizes: above half of `upToBytes`, the smallest class from 0 on. */
export interface SizeClassTally {
  /** Inclusive: 1024, 2048 and so on to 2^30, then Infinity. The bytes are those of the whole transfer request. */
  readonly upToBytes: number;
  readonly count: number;
  readonly bytes: bigint;
  readonly duration: TimesOfClass;
  /** Of the transfers whose post can be told: an agent with events up to NIXL 1.3.0 writes a post when it posts. */
  readonly post: TimesOfClass;
}

/** Transfers of one direction by size. */
export interface DirectionTimes {
  /** Classes with transfers, from the smallest on. */
  readonly classes: readonly SizeClassTally[];
  /** Transfers whose time is that of their post to within 2 %: they ended inside of it. */
  readonly endedInPost: number;
  /** Sum over flushes of the squared number of transfers; approximate. Divided by the count: how many a transfer's flush has. */
  readonly flushSquares: bigint;
  /** Time at which the counts of times were 0, if it is later than that of the agent. */
  readonly startTimeMs?: number;
}

/** Time by size. */
export interface TimeBySize {
  readonly transmit: DirectionTimes;
  readonly receive: DirectionTimes;
}

/** What the model of time tells of a direction in the last minute. What it cannot tell is absent. */
export interface TimeModelNumbers {
  /** Time of a transfer that does not depend on its size. */
  readonly baseUs?: number | undefined;
  /** Rate that large transfers approach. */
  readonly bytesPerSecond?: number | undefined;
  /** Part of the time of transfers that posting takes. */
  readonly postShare?: number | undefined;
  /** How many times as long as usual transfers of the same size take, and their posts. */
  readonly slowdown?: number | undefined;
  readonly postSlowdown?: number | undefined;
}

/** An absent direction did not move. */
export type TimeModels = Readonly<Partial<Record<'transmit' | 'receive', TimeModelNumbers>>>;

/** Totals of an agent's events. */
export interface AgentTally {
  /** Bytes registered minus deregistered in this incarnation, never below 0. */
  readonly memoryInUse: bigint;
  /** All known types in the order of their numbers (at 0 if not seen), then other keys in order of appearance. */
  readonly events: readonly EventTally[];
  readonly transfers: { readonly transmit: TransferTally; readonly receive: TransferTally };
  /** Absent from a snapshot that was taken without `sizeClasses`. */
  readonly timeBySize?: TimeBySize | undefined;
}

export type EventValue = 'count' | 'sum' | 'last' | 'histogram';

/** A number of an agent's tally, named rather than read. `types`: known event types, of several only the counts, which add up. */
export type NumberField =
  | { readonly types: readonly number[]; readonly value: Exclude<EventValue, 'histogram'> }
  | { readonly agent: 'memoryInUse' | 'restarts' | 'foundFull' | 'foundFullMs' | 'resyncs' | 'foreignMoves' };

export type HistogramField =
  | { readonly types: readonly number[]; readonly value: 'histogram' }
  | { readonly direction: 'transmit' | 'receive'; readonly measure: 'size' | 'duration' | 'throughput' };

/** One agent: all that was read from its ring since `startTimeMs`. */
export interface AgentSnapshot extends AgentTally {
  /** Unique in this process and never reused: the key for delta state. */
  readonly id: number;
  /** File name below its source's directory, `/` between folders. */
  readonly agent: string;
  readonly directory: string;
  readonly path: string;
  readonly wireVersion: number;
  readonly capacity: number;
  readonly life: AgentLife;
  /** Process that writes the ring, if it can be seen. */
  readonly pid?: number | undefined;
  /** False until the first search for that process is complete. */
  readonly searched: boolean;
  /** Time at which the sums were 0. */
  readonly startTimeMs: number;
  /** Last drain that found an event; undefined before the first one. */
  readonly lastEventMs?: number | undefined;
  /** Time between two flushes of the agent, as far as its ring shows it: agents without work flush nothing. */
  readonly flushIntervalMs?: number | undefined;
  /** False while the collector has found neither an event nor a process that writes the ring: list it, do not export it. */
  readonly exported: boolean;
  /** Events that the last drain found in the ring (0 to capacity - 1). */
  readonly foundAtDrain: number;
  /** Most events that a drain found in the ring in the last 15 to 30 seconds. */
  readonly peakFound: number;
  /** Drains that found the ring full. The agent may have dropped events then; a ring does not count them. */
  readonly foundFull: number;
  /** Upper bound on the time the ring was full, milliseconds: each such drain adds the time since the previous drain. */
  readonly foundFullMs: number;
  /** Restarts of the agent under this name. */
  readonly restarts: number;
  /** Read position resynchronisations: restart, corruption, another consumer's mark. */
  readonly resyncs: number;
  /** Changes of read_pos by other consumers. */
  readonly foreignMoves: number;
  /**
   * Events that the full ring refused, at least: those that cut transfers lack. The agent does not count them. Wire version
   * 4 and up.
   */
  readonly refused: number;
  /**
   * True once the numbers may be wrong: a foreign consumer drained, several processes wrote the ring, or a restart broke an
   * assumption of the protocol.
   */
  readonly suspect: boolean;
  /** True once several processes could write the ring for ten seconds: they overwrite events of each other. */
  readonly shared: boolean;
  /** Pids of the processes that can write the ring now; absent unless there are several. */
  readonly writers?: readonly number[] | undefined;
  /** True if events of this incarnation were missed, so that memoryInUse may be wrong. */
  readonly memoryApproximate: boolean;
  /** True if the sums began in an earlier process and continue from its state file. */
  readonly recovered: boolean;
  /** Text that an earlier process kept with keepAttributes(). */
  readonly keptAttributes?: string | undefined;
  /** Of each direction that moved in the last minute; only in snapshots of a feed that watches it. */
  readonly timeModels?: TimeModels | undefined;
}

/** Event table of a tally, reduced to numbers, and the bounds of its histograms. */
export interface TallyOptions {
  /**
   * Indexed by type number, without gaps. `names`: spellings in wire version 1. `bounds`: of its histogram; default:
   * `durationBoundsUs` in category PERFORMANCE, none in others.
   */
  readonly types: readonly {
    readonly category: number;
    readonly names: readonly string[];
    readonly bounds?: readonly number[];
  }[];
  /**
   * Histograms of events that `types` does not have. `name` may hold `*` and `?`; an absent field matches anything. The
   * first match counts. Without a match, events of category PERFORMANCE have one over `durationBoundsUs`.
   */
  readonly histograms?: readonly {
    readonly type?: number;
    readonly name?: string;
    readonly category?: number;
    readonly bounds: readonly number[];
  }[];
  /** Upper bounds, strictly increasing, positive; fractions allowed. Microseconds. */
  readonly durationBoundsUs: readonly number[];
  /** Bytes. */
  readonly sizeBounds: readonly number[];
  /** Bytes per second. */
  readonly throughputBounds: readonly number[];
  /**
   * Bounds by which values are counted as well, without being shown. From a state file of a process that had them, one that
   * shows them continues its histograms; others begin at 0 there.
   */
  readonly kept?: Pick<TallyOptions, 'durationBoundsUs' | 'sizeBounds' | 'throughputBounds'>;
}
