/** A RingSource without rings: tests set the readings of agents. */
import { tallyOptions } from '../../src/mapping/index.js';
import type { SnapshotFeed } from '../../src/instrumentation/feed/snapshot-feed.js';
import type { EventTap, RingSource, SnapshotReader, SnapshotWants } from '../../src/shm-bridge/index.js';
import type {
  AgentSnapshot,
  RecoveredCounts,
  EventTally,
  HistogramTally,
  Snapshot,
  SourceOptions,
  TypeBatch,
  TapCounts,
  TypeTapOptions,
  TapStats,
  TransferTally,
} from '../../src/shm-bridge/types.js';
import type { TimeSlices } from '../../src/ground/time-slices.js';
import { exponentialTally } from '../support/exponential.js';

const TABLE = tallyOptions();
export const START_MS = 1_700_000_000_000;

export function histogramOf(bounds: readonly number[], values: readonly number[]): HistogramTally {
  const counts = new Array<number>(bounds.length + 1).fill(0);
  for (const value of values) {
    const bucket = bounds.findIndex((bound) => value <= bound);
    const index = bucket === -1 ? bounds.length : bucket;
    counts[index] = counts[index]! + 1;
  }
  return { bounds, counts, exponential: exponentialTally(values) };
}

function emptyTransfers(): TransferTally {
  return {
    count: 0,
    size: { ...histogramOf(TABLE.sizeBounds, []), sum: 0n },
    duration: { ...histogramOf(TABLE.durationBoundsUs, []), sum: 0n },
    throughput: { ...histogramOf(TABLE.throughputBounds, []), sum: 0 },
  };
}

/** Makes the tally of one event key after these values. */
export function eventTally(key: Partial<EventTally> & { category: number }, values: readonly bigint[]): EventTally {
  const sum = values.reduce((all, value) => all + value, 0n);
  return {
    known: false,
    overflow: false,
    ...key,
    count: values.length,
    sum,
    last: values.at(-1) ?? 0n,
    ...(key.category === 5 ? { histogram: { ...histogramOf(TABLE.durationBoundsUs, values.map(Number)), sum } } : {}),
  };
}

/** Makes an agent with these values, by type number. `more`: keys that the table does not know. */
export function agentSnapshot(
  about: Partial<AgentSnapshot> & { id: number; agent: string },
  values: Readonly<Record<number, readonly bigint[]>> = {},
  more: readonly EventTally[] = [],
): AgentSnapshot {
  const known = TABLE.types.map(({ category }, type) =>
    eventTally({ type, category, known: true }, values[type] ?? []),
  );
  return {
    directory: '/dev/shm/nixl',
    path: `/dev/shm/nixl/${about.agent}`,
    wireVersion: 4,
    capacity: 4096,
    life: 'alive',
    searched: true,
    startTimeMs: START_MS,
    exported: true,
    foundAtDrain: 0,
    peakFound: 0,
    foundFull: 0,
    foundFullMs: 0,
    resyncs: 0,
    restarts: 0,
    foreignMoves: 0,
    refused: 0,
    suspect: false,
    shared: false,
    memoryInUse: 0n,
    memoryApproximate: false,
    recovered: false,
    transfers: { transmit: emptyTransfers(), receive: emptyTransfers() },
    ...about,
    events: [...known, ...more],
  };
}

export class InMemoryTap implements EventTap<TypeBatch> {
  readonly types: readonly number[];
  oneIn = 1;
  closed = false;
  readonly #queue: [agentId: number, type: number, value: number][] = [];
  readonly #counts = new Map<number, TapCounts & { type: number }>();

  constructor(types: readonly number[]) {
    this.types = types;
    for (const type of types) this.#counts.set(type, { type, seen: 0, kept: 0, sampledOut: 0, overflowed: 0 });
  }

  push(agentId: number, type: number, value: number): void {
    if (!this.types.includes(type)) return;
    const counts = this.#counts.get(type)!;
    counts.seen++;
    if (counts.seen % this.oneIn !== 0) {
      counts.sampledOut++;
      return;
    }
    counts.kept++;
    this.#queue.push([agentId, type, value]);
  }

  take(maxEvents: number): TypeBatch {
    const taken = this.#queue.splice(0, maxEvents);
    return {
      length: taken.length,
      agentIds: Float64Array.from(taken, ([agentId]) => agentId),
      types: Uint32Array.from(taken, ([, type]) => type),
      values: Float64Array.from(taken, ([, , value]) => value),
    };
  }

  setSampling(n: number): void {
    this.oneIn = n;
  }

  stats(): TapStats {
    const types = [...this.#counts.values()].map((counts) => ({ ...counts }));
    const all = (key: keyof TapCounts): number => types.reduce((sum, counts) => sum + counts[key], 0);
    const [seen, kept, sampledOut, overflowed] = [all('seen'), all('kept'), all('sampledOut'), all('overflowed')];
    return { seen, kept, sampledOut, overflowed, types };
  }

  close(): void {
    this.closed = true;
  }
}

export class InMemorySource implements RingSource {
  closed = false;
  drains = 0;
  takenMs = START_MS + 10_000;
  agents: AgentSnapshot[] = [];
  readonly taps: InMemoryTap[] = [];
  problems: Snapshot['problems'] = [];
  problemCount: number | undefined;
  openDirectories: string[] = [];
  stateProblems: Snapshot['stateProblems'] = [];
  stateLosses: Snapshot['stateLosses'] = [];
  /** Texts that keepAttributes() kept, by the agent's id. */
  readonly kept = new Map<number, string>();
  /** Results of recoveredCounts(), by the agent's id. */
  readonly recovered = new Map<number, RecoveredCounts>();
  collector = { drainIntervalMs: 20, ticks: 500, lateTicks: 2, maxLagMs: 45, sinceTickMs: 3 };
  failure: Error | undefined;
  /** Wants of the readers, in order of their snapshots. */
  readonly wants: (SnapshotWants | undefined)[] = [];
  /** Other work between two slices. */
  duringSlices: () => Promise<void> | void = () => {};
  readonly #first: InMemoryTap | undefined;

  constructor(tap?: TypeTapOptions) {
    if (tap !== undefined) this.#first = this.openTypeTap(tap);
  }

  readonly eventTap = undefined;
  openEventTap(): never {
    throw new Error('not in memory');
  }

  get typeTap(): InMemoryTap | undefined {
    return this.#first?.closed === false ? this.#first : undefined;
  }

  snapshot(): Snapshot {
    if (this.failure !== undefined) throw this.failure;
    const { takenMs, agents, problems, problemCount = problems.length } = this;
    const { openDirectories, stateProblems, stateLosses } = this;
    const collector = { ...this.collector };
    const all = { takenMs, agents: [...agents], problems, problemCount, stateProblems, stateLosses, openDirectories };
    return { ...all, places: [], collector };
  }

  snapshotFor(wants?: SnapshotWants): Snapshot {
    this.wants.push(wants);
    return this.snapshot();
  }

  keepAttributes(agentId: number, text: string): void {
    this.kept.set(agentId, text);
  }

  recoveredCounts(agentId: number): RecoveredCounts | undefined {
    return this.recovered.get(agentId);
  }

  async snapshotInSlices(_: TimeSlices, wants?: SnapshotWants): Promise<Snapshot | undefined> {
    await this.duringSlices();
    return this.closed ? undefined : this.snapshotFor(wants);
  }

  openReader(): SnapshotReader {
    return {
      snapshot: (wants) => this.snapshotFor(wants),
      snapshotInSlices: (slices, wants) => this.snapshotInSlices(slices, wants),
      close: () => {},
    };
  }

  drainNow(): void {
    this.drains++;
  }

  drain(): Promise<void> {
    this.drainNow();
    return Promise.resolve();
  }

  hold(): Promise<void> {
    return this.drain();
  }

  openTypeTap({ types }: TypeTapOptions): InMemoryTap {
    const tap = new InMemoryTap(types);
    this.taps.push(tap);
    return tap;
  }

  close(): void {
    this.closed = true;
    for (const tap of this.taps) tap.close();
  }
}

/** Makes a feed on a source that other code owns. */
export function feedOf(source: InMemorySource): SnapshotFeed {
  return {
    join: () => {},
    leave: () => {},
    collect: (_, wants) => Promise.resolve().then(() => source.snapshotFor(wants)),
    timeBySize: () => Promise.resolve([]),
    rings: () => new Set(source.agents.map(({ path }) => path)),
    recovered: (agentId) => source.recoveredCounts(agentId),
  };
}

/** An openSource() that remembers what it opened. */
export class SourceOpener {
  readonly opened: InMemorySource[] = [];
  readonly options: SourceOptions[] = [];
  agents: AgentSnapshot[] = [];

  readonly openSource = (options: SourceOptions): InMemorySource => {
    const source = new InMemorySource(options.typeTap);
    source.agents = this.agents;
    this.options.push(options);
    this.opened.push(source);
    return source;
  };

  get last(): InMemorySource {
    return this.opened.at(-1)!;
  }

  get open(): InMemorySource[] {
    return this.opened.filter(({ closed }) => !closed);
  }
}
