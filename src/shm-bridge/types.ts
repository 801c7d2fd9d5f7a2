/**
 * The bridge's public types: bytes, counts and states. No metric names and no OpenTelemetry in this room.
 * Times ending in `Ms` are milliseconds since the Unix epoch unless they say otherwise.
 */

/** What opening a ring found. Only `ready` rings are drained; `busy` and `initializing` are tried again. */
export type RingState = 'absent' | 'initializing' | 'ready' | 'incompatible' | 'corrupt' | 'busy' | 'denied';

/** `dead` only after a process that wrote the ring was seen and is gone; `unknown` where that cannot be seen. */
export type AgentLife = 'alive' | 'dead' | 'unknown';

/** One event as it stands in a slot. Which fields exist depends on the wire version. */
export interface RingEvent {
  /** Microseconds since the Unix epoch (wire version 1). */
  timestampUs?: bigint;
  /** NIXL's category number as stored (wire versions 1 and 2). */
  category?: number;
  /** Event type number (wire versions 2 and up). */
  type?: number;
  /** Event name, at most 32 bytes; bytes that are not UTF-8 become \xNN (wire version 1). */
  name?: string;
  /** The operation's reading, never a running total: bytes, requests or microseconds by type. */
  value: bigint;
}

/** What events have in common. Which fields exist depends on the wire version, as in RingEvent. */
export interface RingEventKind {
  category?: number;
  type?: number;
  name?: string;
  /** Whether `timestampsUs` says something about these events. */
  timestamped: boolean;
}

/** Events of one ring, column by column: entry i of `kindOf`, `values` and `timestampsUs` is one event. */
export interface RingEventColumns {
  length: number;
  kinds: RingEventKind[];
  /** Where the event's kind stands in `kinds`. */
  kindOf: Uint32Array;
  values: BigUint64Array;
  /** Microseconds since the Unix epoch (wire version 1). */
  timestampsUs: BigUint64Array;
}

/** Counts per bucket: `counts[i]` holds values <= `bounds[i]`, the last count everything above. */
export interface HistogramTally {
  bounds: readonly number[];
  counts: readonly number[];
}

/** What one event key of one agent added up to since the tally began. */
export interface EventTally {
  /** The type number, where the key is one. Absent for named events that the event table does not know. */
  type?: number;
  /** The name, where the key is one. */
  name?: string;
  /** NIXL's category number; -1 for the overflow key. */
  category: number;
  /** True when the event table that was given to the source has this key. */
  known: boolean;
  /** True for the one key that takes whatever came after 256 unknown keys. */
  overflow: boolean;
  count: number;
  /** Exact. */
  sum: bigint;
  last: bigint;
  /** Of events of category PERFORMANCE (microseconds), and of those that were given bounds. */
  histogram?: HistogramTally;
}

/** Finished transfers of one direction, put together from consecutive events. */
export interface TransferTally {
  count: number;
  /** Bytes. */
  size: HistogramTally & { sum: bigint };
  /** Microseconds. */
  duration: HistogramTally & { sum: bigint };
  /** Bytes per second; transfers that took 0 us are left out. */
  throughput: HistogramTally & { sum: number };
}

/** One agent: everything that its ring told since `startTimeMs`. */
export interface AgentSnapshot {
  /** Unique in this process and never used again: the key for delta state. */
  id: number;
  /** File name below its source's directory, `/` between folders. */
  agent: string;
  directory: string;
  path: string;
  wireVersion: number;
  capacity: number;
  life: AgentLife;
  /** The process that writes the ring, where it can be seen. */
  pid?: number;
  /** When the sums stood at 0. */
  startTimeMs: number;
  /** When a drain last found an event; undefined before the first one. */
  lastEventMs?: number;
  /** False while the ring was found empty and no process was seen behind it: list it, do not export it. */
  exported: boolean;
  /** Events in the ring at the last look (0 to capacity - 1). */
  pending: number;
  /** Most events that a drain found in the ring in the last 15 to 30 seconds. */
  peakPending: number;
  /** Drains that found the ring full: events may have been refused then, and the ring does not count those. */
  foundFull: number;
  /** Milliseconds that it may have been full, at most: from the drains before to those that found it so. */
  foundFullMs: number;
  /** Times the agent came back under this name. */
  restarts: number;
  /** Times the place in the ring had to be found anew: restarts, damage, another's mark. */
  resyncs: number;
  /** Times read_pos was moved by someone else. */
  foreignMoves: number;
  /** True once the numbers may be off: a foreign consumer, or a restart outside of the protocol's assumption. */
  suspect: boolean;
  /** Bytes registered minus deregistered in this incarnation, never below 0. */
  memoryInUse: bigint;
  /** True when events of this incarnation were missed, so that memoryInUse may be off. */
  memoryApproximate: boolean;
  /** Every known type (at 0 if not seen), then the keys that turned up. */
  events: EventTally[];
  transfers: { transmit: TransferTally; receive: TransferTally };
}

/** A file in a source that is no ring that can be drained, or a place where there is none, and why. */
export interface RingProblem {
  path: string;
  /** `relative` and `no_rings` are states of places. */
  state: Exclude<RingState, 'ready'> | 'relative' | 'no_rings';
  reason: string;
}

/** One of the directories and globs that a source was given. */
export interface PlaceStatus {
  given: string;
  /** The same as an absolute path. */
  path: string;
  isGlob: boolean;
  /** Of the directory: `ready` when it can be read, `corrupt` when it is no directory. */
  state: RingState;
  /** Empty when ready; else what was found, in words. */
  reason: string;
  /** Files that could be rings. */
  files: number;
  /** One of them was a ring, now or before. */
  hadRings: boolean;
}

/** The background thread's own state. One per process, shared by all sources. */
export interface CollectorStats {
  /**
   * The interval in force: the smallest that any source asked for. While no ring had an event for a second it is doubled, to
   * 50 at most.
   */
  drainIntervalMs: number;
  ticks: number;
  /** Ticks that began more than one interval late. */
  lateTicks: number;
  /** Longest time between the beginnings of two ticks, milliseconds. */
  maxLagMs: number;
  /** Time between the last tick and the one before it, milliseconds. */
  lastLagMs: number;
  /** Time since the last tick began, milliseconds: much more than the interval when the thread does not get to run. */
  sinceTickMs: number;
}

/** Cumulative, and consumed by nobody: any number of readers agree. */
export interface Snapshot {
  takenMs: number;
  agents: AgentSnapshot[];
  /** At most 1000; `problemCount` is the whole number. */
  problems: RingProblem[];
  problemCount: number;
  /** Directories (or with folders) in which any user may put rings: writable by all, and `owners` not given. */
  openDirectories: string[];
  /** In the order in which they were given: directories, then globs. */
  places: PlaceStatus[];
  collector: CollectorStats;
}

/** What the tally must know of events: the mapping's table, reduced to numbers. */
export interface TallyOptions {
  /**
   * Indexed by type number, without gaps. `names`: how wire version 1 spells it. `bounds`: of its histogram; default:
   * `durationBoundsUs` in category PERFORMANCE, in others it has none.
   */
  types: readonly { category: number; names: readonly string[]; bounds?: readonly number[] }[];
  /**
   * Histograms of events that `types` does not have. `name` may hold `*` and `?`; what is left out matches anything. The
   * first that matches counts; where none does, those of category PERFORMANCE have one over `durationBoundsUs`.
   */
  histograms?: readonly { type?: number; name?: string; category?: number; bounds: readonly number[] }[];
  /** Upper bounds, strictly increasing, positive; fractions allowed. Microseconds. */
  durationBoundsUs: readonly number[];
  /** Bytes. */
  sizeBounds: readonly number[];
  /** Bytes per second. */
  throughputBounds: readonly number[];
}

export interface SourceOptions {
  /** Directories whose files are rings, searched to depth 3. They need not exist yet. */
  directories?: readonly string[];
  /** Paths with `*` and `?` in their last part. */
  globs?: readonly string[];
  /**
   * 1 to 10000; default 20. Keep it at most a fifth of the agents' flush interval: it is doubled, to 50 at most, while
   * nothing moves.
   */
  drainIntervalMs?: number;
  /** How long a dead agent's last values stay after its death; default 30000. */
  deadTtlMs?: number;
  /** Drop agents whose life is unknown after this long without an event; default: never. */
  idleTtlMs?: number;
  /**
   * Also read rings of this source on NFS, 9p, virtiofs and FUSE, where shared mappings may not be coherent; default
   * false.
   */
  force?: boolean;
  /** User ids: only files that one of them owns are rings. Default: anyone's. */
  owners?: readonly number[];
  tally: TallyOptions;
  /** A tap that is there before the first ring is drained: it sees every event that the sums hold. */
  tap?: TapOptions;
  /** A queue of all events as they are, from the first one on. */
  events?: EventQueueOptions;
}

export interface EventQueueOptions {
  /** Most events that wait for JavaScript, 1 to 1048576; default 65536. */
  capacity?: number;
}

/** Raw events, column by column: entry i of each array is one event. In the order of each ring. */
export interface EventBatch {
  length: number;
  /** AgentSnapshot.id. */
  agentIds: Float64Array;
  /** Where the event's key stands in AgentSnapshot.events. */
  keys: Uint32Array;
  values: BigUint64Array;
  /** Microseconds since the Unix epoch: the event's own in wire version 1, else when it was drained. */
  timesUs: Float64Array;
}

/** Events that crossed to JavaScript, column by column: entry i of each array is one event. */
export interface TapBatch {
  length: number;
  /** AgentSnapshot.id. */
  agentIds: Float64Array;
  /** Known type numbers. */
  types: Uint32Array;
  values: Float64Array;
}

export interface TapOptions {
  /** Known type numbers to keep. */
  types: readonly number[];
  /** Most events that wait for JavaScript, 1 to 1048576; default 65536. */
  capacity?: number;
}

export interface TapCounts {
  /** Events of the asked types since the tap was opened. */
  seen: number;
  /** Of those, put into the queue. */
  kept: number;
  /** Of those, passed over on purpose, by sampling. */
  sampledOut: number;
  /** Of those, lost because the queue was full. */
  overflowed: number;
}

export interface TapStats extends TapCounts {
  /** The same by type number, of taps that asked for types. */
  types: readonly (TapCounts & { readonly type: number })[];
}

/** What opening or looking at one ring says. */
export interface RingInfo {
  state: RingState;
  /** Empty when ready; else what was found, in words. */
  reason: string;
  wireVersion: number;
  capacity: number;
  slotBytes: number;
}

/** What stands in a ring's header. The numbers are there when it is ready. */
export interface RingInspection {
  state: RingState;
  /** Empty when ready; else what was found, in words. */
  reason: string;
  wireVersion?: number;
  capacity?: number;
  slotBytes?: number;
  /** Slot indices. */
  writePos?: number;
  readPos?: number;
  /** Events in the ring, not yet consumed. */
  pending?: number;
  /** True while a consumer of this package has its mark in it. */
  consumed?: boolean;
}

export interface RingStats extends RingInfo {
  /** Events in the ring, not yet consumed. */
  pending: number;
  /** Events that this handle's ring has consumed since it was opened. */
  drained: bigint;
  restarts: number;
  foreignMoves: number;
  suspect: boolean;
}

export interface ObserveResult<Events = RingEvent[]> {
  events: Events;
  /** The producer went round since the last look: events before these are missing. */
  lapped: boolean;
  /** The ring is full and stands still: nobody drains it, and the agent drops what is new. */
  stalled: boolean;
  /** The agent came back in this file since the last look. */
  restarted: boolean;
  state: RingState;
  /** Empty when ready; else what was found, in words. */
  reason: string;
}

/** What one look of a tallying observer found. Capacity and the like are there when the ring is ready. */
export interface ObservedRing {
  state: RingState;
  /** Empty when ready; else what was found, in words. */
  reason: string;
  /** Events since the last look. */
  found: number;
  /** As in ObserveResult. */
  lapped: boolean;
  stalled: boolean;
  restarted: boolean;
  wireVersion?: number;
  capacity?: number;
  /** Events in the ring that nobody consumed. */
  pending?: number;
}

/** What an agent's events added up to, as far as they were seen. */
export interface ObservedTally {
  /** As in AgentSnapshot. */
  memoryInUse: bigint;
  events: EventTally[];
  transfers: { transmit: TransferTally; receive: TransferTally };
}
