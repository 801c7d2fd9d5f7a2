/**
 * Readings that a reader got. A memory lives as long as its reader and longer than any source. After disable() and
 * enable(), with other settings or with another provider, each event is still reported exactly once.
 */
import { madeOnce } from '../../ground/maps.js';
import type { AgentSnapshot } from '../../shm-bridge/index.js';
import type { FeedSnapshot } from '../feed/snapshot-feed.js';
import { addedReadings, inBoundsOf } from './added-readings.js';
import { type RingReporter, THIS_COPY } from './ring-reporter.js';

/** Readings of the last collect: the next delta begins there. */
export interface LastCollect {
  readonly snapshot: FeedSnapshot;
  /** By id. */
  readonly agents: Map<number, AgentSnapshot>;
}

/** Reading of a tally when its source was closed. */
interface Carried {
  reading: AgentSnapshot;
  /** Id of the tally that continues it, once there is one. */
  continuedBy: number | undefined;
}

/** A ring that other producers report to this reader. */
interface LeftOut {
  readonly reading: AgentSnapshot;
  readonly reporters: readonly RingReporter[];
  /** Last reading that this producer reported. */
  readonly own: AgentSnapshot | undefined;
}

export class ReaderMemory {
  /** Set by the producer at each collect. */
  previous: LastCollect | undefined;
  /** By path. */
  #carried = new Map<string, Carried>();
  /** By id, as of the last call of show(). */
  #leftOut = new Map<number, LeftOut>();
  /** Producers that reported to the reader before this one entered. Valid until the next call of show(). */
  #foundReporters: readonly RingReporter[] = [];

  /** `reporters`: the other producers in the reader when the producer of this memory enters it. */
  enter(reporters: readonly RingReporter[]): void {
    this.#foundReporters = reporters;
  }

  /** Returns the last reported readings by id, also of agents that are omitted now. */
  reported(): ReadonlyMap<number, AgentSnapshot> {
    const reported = new Map(this.previous?.agents);
    for (const id of this.#leftOut.keys()) {
      const own = this.#ownOf(id);
      if (own !== undefined) reported.set(id, own);
    }
    return reported;
  }

  /** Continues the memory of a reader that this reader replaces. */
  replace(other: ReaderMemory): void {
    const { previous } = other;
    this.previous = previous && { ...previous, agents: new Map(previous.agents) };
    this.#carried = new Map([...other.#carried].map(([path, one]) => [path, { ...one }]));
    this.#leftOut = new Map(other.#leftOut);
  }

  /** Returns the readings that the reader gets. `reporters` report the rings with the paths in `others`. */
  show(snapshot: FeedSnapshot, others: ReadonlySet<string>, reporters: readonly RingReporter[]): AgentSnapshot[] {
    const shown: AgentSnapshot[] = [];
    const leftOut = new Map<number, LeftOut>();
    const present = new Set<string>();
    for (const agent of snapshot.agents) {
      present.add(agent.path);
      const reading = this.#withCarried(agent);
      if (!reading.exported) continue;
      if (others.has(agent.path)) leftOut.set(agent.id, { reading, reporters, own: this.#ownOf(agent.id) });
      else {
        this.#continue(agent.id, snapshot);
        shown.push(reading);
      }
    }
    this.#leftOut = leftOut;
    this.#foundReporters = [];
    return [...shown, ...this.#lastOf(present).filter(({ path }) => !others.has(path))];
  }

  /** Keeps the last snapshot of a source that closes now: `agents` as show() gets them. */
  carry(agents: readonly AgentSnapshot[]): void {
    const carried = new Map<string, Carried>();
    for (const agent of agents) {
      const reading = this.#withCarried(agent);
      if (!reading.exported) continue;
      if (this.#leftOut.has(agent.id)) this.#continue(agent.id);
      carried.set(agent.path, { reading, continuedBy: undefined });
    }
    // An agent that has not reappeared since the previous source closed is still to be reported.
    for (const [path, one] of this.#carried) {
      if (one.continuedBy === undefined) carried.set(path, one);
    }
    this.#carried = carried;
    this.#leftOut.clear();
  }

  #withCarried(agent: AgentSnapshot): AgentSnapshot {
    const carried = this.#carried.get(agent.path);
    if (carried === undefined) return agent;
    const { reading, continuedBy } = carried;
    // Adds nothing if another source kept the tally alive, or if an earlier tally has continued the reading.
    if (reading.id === agent.id || (continuedBy !== undefined && continuedBy !== agent.id)) {
      this.#carried.delete(agent.path);
      return agent;
    }
    if (continuedBy === undefined) {
      carried.continuedBy = agent.id;
      carried.reading = inBoundsOf(agent, reading);
      const before = this.previous?.agents.get(reading.id);
      if (before !== undefined) this.previous!.agents.set(agent.id, inBoundsOf(agent, before));
    }
    return addedReadings(carried.reading, agent);
  }

  #ownOf(id: number): AgentSnapshot | undefined {
    return this.previous?.agents.get(id) ?? this.#leftOut.get(id)?.own;
  }

  /**
   * Makes deltas begin at the last report of this agent by any producer: the one with the most events, because a producer
   * that returned may have older readings. `snapshot`: replaces a missing last collect.
   */
  #continue(id: number, snapshot?: FeedSnapshot): void {
    const leftOut = this.#leftOut.get(id);
    let last = this.#ownOf(id);
    for (const reporter of leftOut?.reporters ?? this.#foundReporters) {
      const other =
        reporter.copy === THIS_COPY ? (reporter.reported().get(id) as AgentSnapshot | undefined) : undefined;
      if (other !== undefined && (last === undefined || eventsOf(last) < eventsOf(other))) last = other;
    }
    last ??= leftOut?.reading;
    if (last === undefined) return;
    if (snapshot !== undefined) this.previous ??= { snapshot, agents: new Map() };
    this.previous?.agents.set(id, last);
  }

  /** Returns, once, the last readings of agents that the new source does not have. */
  #lastOf(present: ReadonlySet<string>): AgentSnapshot[] {
    const last: AgentSnapshot[] = [];
    for (const [path, { reading, continuedBy }] of this.#carried) {
      if (present.has(path)) continue;
      this.#carried.delete(path);
      if (continuedBy === undefined) last.push(reading);
    }
    return last;
  }
}

function eventsOf({ events }: AgentSnapshot): number {
  return events.reduce((sum, { count }) => sum + count, 0);
}

/** Memories of all readers that one instrumentation ever joined. */
export class ReaderMemories {
  readonly #byReader = new WeakMap<object, ReaderMemory>();
  #inUse: readonly ReaderMemory[] = [];

  /**
   * Returns the memories of these readers, in their order. When all readers are new, they continue the memories of the
   * previous readers: no delta is reported again, and unreported ones are reported.
   */
  of(readers: readonly object[]): ReaderMemory[] {
    const memories = readers.map((reader) => madeOnce(this.#byReader, reader, () => new ReaderMemory()));
    const before = this.#inUse;
    if (!memories.some((memory) => before.includes(memory))) {
      memories.forEach((memory, i) => {
        const replaced = before.length === memories.length ? before[i] : before[0];
        if (replaced !== undefined) memory.replace(replaced);
      });
    }
    this.#inUse = memories;
    return memories;
  }

  /** `agents`: of the last snapshot before the source closes. */
  carry(agents: readonly AgentSnapshot[]): void {
    for (const memory of this.#inUse) memory.carry(agents);
  }
}
