/**
 * Public types of the bridge: bytes, counts and states. This room knows no metric names and no OpenTelemetry.
 * Times ending in `Ms` are milliseconds since the Unix epoch unless a field states otherwise.
 */
import type { AgentSnapshot, AgentTally, TallyOptions } from '../ground/tally.js';

export type {
  AgentLife,
  AgentSnapshot,
  AgentTally,
  EventTally,
  HistogramTally,
  TallyOptions,
  TransferTally,
} from '../ground/tally.js';

/** Result of opening a ring. Only `ready` rings are drained; `busy` and `initializing` rings are retried. */
export type RingState = 'absent' | 'initializing' | 'ready' | 'incompatible' | 'corrupt' | 'busy' | 'denied';

/** One event, as stored in a slot. The wire version determines which fields exist. */
export interface RingEvent {
  /** Microseconds since the Unix epoch (wire version 1). */
  timestampUs?: bigint;
  /** NIXL's category number as stored (wire versions 1 and 2). */
  category?: number;
  /** Event type number (wire versions 2 and up). */
  type?: number;
  /** Event name, at most 32 bytes; bytes that are not UTF-8 become \xNN (wire version 1). */
  name?: string;
  /** Reading of one operation, never a running total: bytes, requests or microseconds, depending on the type. */
  value: bigint;
}

/** Fields that events of one kind share. The wire version determines which fields exist, as in RingEvent. */
export interface RingEventKind {
  category?: number;
  type?: number;
  name?: string;
  /** True if these events have a time in `timestampsUs`. */
  timestamped: boolean;
}

/** Events of one ring, column by column: entry i of `kindOf`, `values` and `timestampsUs` is one event. */
export interface RingEventColumns {
  length: number;
  kinds: RingEventKind[];
  /** Index into `kinds`. */
  kindOf: Uint32Array;
  values: BigUint64Array;
  /** Microseconds since the Unix epoch (wire version 1). */
  timestampsUs: BigUint64Array;
}

/** State of a file or directory, and its reason in words. The reason is empty if the state is `ready`. */
export interface RingStatus {
  state: RingState;
  reason: string;
}

/** A file in a source that cannot be drained or that was deleted, or a place without rings. */
export interface RingProblem {
  path: string;
  /**
   * `relative`, `no_rings`, `no_space` and `unseen` (agents of unknown life) are states of places. `deleted`: the file has no
   * name any more, and its agent still writes it. It is drained like any ring, and no other process can open it.
   */
  state: Exclude<RingState, 'ready'> | 'deleted' | 'relative' | 'no_rings' | 'no_space' | 'unseen';
  reason: string;
}

/** An agent that is drained without a state file, or whose earlier state file could not be continued. */
export interface StateProblem {
  /** Path of the ring. */
  path: string;
  reason: string;
}

export type RecoveredCounters = Pick<
  AgentSnapshot,
  'foundFull' | 'foundFullMs' | 'restarts' | 'resyncs' | 'foreignMoves' | 'refused'
>;

/** A histogram that began at 0 when the sums of its agent were recovered, because it had other bounds. */
export interface BegunHistogram {
  of: 'event' | 'size' | 'duration' | 'throughput';
  /** Of an event in `events`; otherwise 0 for sent transfers, 1 for received ones. */
  index: number;
}

/** What earlier processes counted of an agent and this one continues. */
export interface RecoveredCounts extends AgentTally, RecoveredCounters {
  /** Absent if there are none. */
  readonly begunHistograms?: readonly BegunHistogram[];
}

/** Times in a state file, milliseconds since the Unix epoch. */
export interface StateSummary {
  /** Time at which the sums were 0. */
  startTimeMs: number;
  /** Last drain that found an event; undefined before the first one. */
  lastEventMs?: number;
  /** Whether the last writer that serve saw has ended. False if that is not known. */
  writerEnded: boolean;
}

/** Directory or glob of a source's options. The state is `corrupt` if the path is not a directory. */
export interface PlaceStatus extends RingStatus {
  given: string;
  /** `given` as an absolute path. */
  path: string;
  isGlob: boolean;
  /** Files that could be rings. */
  files: number;
  /** True if one of the files is or was a ring. */
  hadRings: boolean;
  space: PlaceSpace;
}

/**
 * Space of the directory of a place, a few seconds old. An agent that stores into a page of its ring for which the file system
 * has no room is ended by the kernel (SIGBUS).
 */
export interface PlaceSpace {
  /** Size of the file system. 0: without a limit, or not known. */
  totalBytes: number;
  freeBytes: number;
  /** Bytes that the rings of living agents on this file system have not allocated yet. */
  lackBytes: number;
  /** Rings of the place whose agents live, or may live. */
  live: number;
  /** Bytes allocated for these. */
  liveBytes: number;
  /** Size of the largest of these; 0 without one. */
  ringBytes: number;
  /** Rings of agents that ended, or that could not start. */
  ended: number;
  endedBytes: number;
  /** State files of consumers. */
  stateBytes: number;
}

/** State of the background thread: one per process, shared by all sources. */
export interface CollectorStats {
  /**
   * Interval in force, milliseconds: the smallest of all sources. Tripled, to at most 60, while no ring has had an event
   * for a second.
   */
  drainIntervalMs: number;
  ticks: number;
  /** Ticks that began more than one interval late. */
  lateTicks: number;
  /** Longest time between the starts of two ticks, milliseconds, without waits for the first ring. */
  maxLagMs: number;
  /** Time since the start of the last tick, milliseconds: much more than the interval if the thread is blocked. */
  sinceTickMs: number;
}

/** Cumulative totals. Taking a snapshot consumes nothing, so any number of readers agree. */
export interface Snapshot {
  takenMs: number;
  agents: AgentSnapshot[];
  /** At most 1000; `problemCount` counts all. */
  problems: RingProblem[];
  problemCount: number;
  /** At most 1000. Empty without SourceOptions.state. */
  stateProblems: StateProblem[];
  /** At most 1000: agents whose sums began at 0 although there was a state file. A new one keeps them since. */
  stateLosses: StateProblem[];
  /** Directories in which any user may create rings: they or folders in them are world-writable, and `owners` is not set. */
  openDirectories: string[];
  /** In the order of the options: directories, then globs. */
  places: PlaceStatus[];
  collector: CollectorStats;
}

export interface SourceOptions {
  /** Directories that contain rings, searched to depth 3. They need not exist yet. */
  directories?: readonly string[];
  /** Paths with `*` and `?` in their last part. */
  globs?: readonly string[];
  /**
   * Time between two drains, 1 to 10000; default 20. Keep it at most a fifth of the agents' flush interval. While no
   * event arrives, the collector doubles it, to at most 50.
   */
  drainIntervalMs?: number;
  /** Time for which the last values of a dead agent are kept; default 30000. */
  deadTtlMs?: number;
  /** Time without an event after which an agent of unknown life is released; default: never. */
  idleTtlMs?: number;
  /** Reads rings on NFS, 9p, virtiofs and FUSE as well. Shared mappings may not be coherent there. Default: false. */
  force?: boolean;
  /** User ids. Only files of these users are rings. Default: files of any user. */
  owners?: readonly number[];
  /**
   * Keeps the sums of each agent in a state file beside its ring, in the folder `.nixl-otel`, so that the next process
   * continues them. Default: false.
   */
  state?: boolean;
  /**
   * Allocates the memory pages that the rings of living agents on a tmpfs lack, so that an agent survives if another program
   * fills the tmpfs. They count as memory of this process's cgroup: at most 16 MiB for a ring and 64 MiB in all. Default: false.
   */
  allocatePages?: boolean;
  /**
   * Time after which the ring of an agent that was seen to end is removed, if its name is one that its engine makes anew at each
   * start, and if it is empty and unlocked. Default: never.
   */
  removeEndedAfterMs?: number;
  tally: TallyOptions;
  /** Tap of some types, opened before the first ring is drained: it sees every event that the sums hold. */
  typeTap?: TypeTapOptions;
  /** Tap of all events, opened before the first ring is drained. */
  eventTap?: EventTapOptions;
}

export interface EventTapOptions {
  /** Highest number of events that wait for JavaScript, 1 to 1048576; default 65536. */
  capacity?: number;
}

export interface TypeTapOptions extends EventTapOptions {
  /** Known type numbers to keep. */
  types: readonly number[];
  /** Keeps only so many first events of each agent and type; 0, the default, keeps all. */
  first?: number;
}

/** Events of an EventTap, column by column: entry i of each array is one event. Events of a ring keep their order. */
export interface EventBatch {
  length: number;
  /** AgentSnapshot.id. */
  agentIds: Float64Array;
  /** Index of the event's key in AgentSnapshot.events. */
  keys: Uint32Array;
  values: BigUint64Array;
  /** Microseconds since the Unix epoch: the event's time in wire version 1, otherwise the time of the drain. */
  timesUs: Float64Array;
}

/** Events of a TypeTap, column by column: entry i of each array is one event. */
export interface TypeBatch {
  length: number;
  /** AgentSnapshot.id. */
  agentIds: Float64Array;
  /** Known type numbers. */
  types: Uint32Array;
  values: Float64Array;
}

export interface TapCounts {
  /** Events of the requested types since the tap was opened. */
  seen: number;
  /** Events of `seen` that were queued. */
  kept: number;
  /** Events of `seen` that sampling left out. */
  sampledOut: number;
  /** Events of `seen` that were lost because the queue was full. */
  overflowed: number;
}

export interface TapStats extends TapCounts {
  /** Counts per type number. Empty for an EventTap of all events. */
  types: readonly (TapCounts & { readonly type: number })[];
}

/** Header of a ring. The numbers are present if it is ready. */
export interface RingInspection extends RingStatus {
  wireVersion?: number;
  capacity?: number;
  slotBytes?: number;
  /** Slot indices. */
  writePos?: number;
  readPos?: number;
  /** Unread events in the ring. */
  pending?: number;
  /** True if the header has the mark of a consumer of this package. It stays when that consumer ends. */
  consumed?: boolean;
}

export interface RingStats extends RingStatus {
  wireVersion: number;
  capacity: number;
  slotBytes: number;
  /** Unread events in the ring. */
  pending: number;
  /** Events consumed since the ring was opened in this process. */
  drained: bigint;
  restarts: number;
  foreignMoves: number;
  suspect: boolean;
}

interface RingObservation extends RingStatus {
  /** True if the producer lapped the observer since the previous call: events before these are missing. */
  lapped: boolean;
  /** True if the ring is full and not drained: the agent drops new events. */
  stalled: boolean;
  /** True if the agent restarted in this file since the previous call. */
  restarted: boolean;
}

export interface ObserveResult<Events = RingEvent[]> extends RingObservation {
  events: Events;
}

/** Result of TallyingObserver.observe(). The optional numbers are present if the ring is ready. */
export interface ObservedRing extends RingObservation, Pick<RingInspection, 'wireVersion' | 'capacity' | 'pending'> {
  /** Events since the previous call. */
  found: number;
}
