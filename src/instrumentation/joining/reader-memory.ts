/**
 * Readings that one reader got, kept as long as the reader and longer than any source: after disable() and enable(), with
 * other settings or with another provider no event is reported twice or missing.
 */
import type { AgentSnapshot } from '../../shm-bridge/types.js';
import type { FeedSnapshot } from '../snapshot-feed.js';
import { addedReadings, inBoundsOf } from './added-readings.js';
import { type RingReporter, THIS_COPY } from './ring-reporter.js';

/** The last collect: where the next delta begins. */
export interface LastCollect {
  readonly snapshot: FeedSnapshot;
  /** By id. */
  readonly agents: Map<number, AgentSnapshot>;
}

/** Reading of a tally when its source was closed. */
interface Carried {
  reading: AgentSnapshot;
  /** Id of the tally that continues it, once there is one. */
  goesOnAs: number | undefined;
}

/** A ring that others report to this reader. */
interface LeftOut {
  readonly reading: AgentSnapshot;
  readonly reporters: readonly RingReporter[];
  /** What this producer itself reported last of it. */
  readonly own: AgentSnapshot | undefined;
}

export class ReaderMemory {
  /** Set by the producer at each collect. */
  previous: LastCollect | undefined;
  /** By path. */
  #carried = new Map<string, Carried>();
  /** By id, as of the last call of show(). */
  #leftOut = new Map<number, LeftOut>();
  /** What others in the reader reported until this producer came. Until the next call of show(). */
  #foundReporters: readonly RingReporter[] = [];

  /** `reporters`: the others that are in the reader when the producer of this memory comes into it. */
  enter(reporters: readonly RingReporter[]): void {
    this.#foundReporters = reporters;
  }

  /** Returns the readings that this producer reported last, by id, also of agents that it leaves out by now. */
  reported(): ReadonlyMap<number, AgentSnapshot> {
    const reported = new Map(this.previous?.agents);
    for (const id of this.#leftOut.keys()) {
      const own = this.#ownOf(id);
      if (own !== undefined) reported.set(id, own);
    }
    return reported;
  }

  /** For a reader that takes the place of another one. */
  takePlaceOf(other: ReaderMemory): void {
    const { previous } = other;
    this.previous = previous && { ...previous, agents: new Map(previous.agents) };
    this.#carried = new Map([...other.#carried].map(([path, one]) => [path, { ...one }]));
    this.#leftOut = new Map(other.#leftOut);
  }

  /** Returns the readings that the reader gets. `reporters` report the rings whose paths are in `others`. */
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
        this.#takeOver(agent.id, snapshot);
        shown.push(reading);
      }
    }
    this.#leftOut = leftOut;
    this.#foundReporters = [];
    return [...shown, ...this.#lastOf(present).filter(({ path }) => !others.has(path))];
  }

  /** The last snapshot of a source that is closed now: `agents` as show() gets them. */
  carry(agents: readonly AgentSnapshot[]): void {
    const carried = new Map<string, Carried>();
    for (const agent of agents) {
      const reading = this.#withCarried(agent);
      if (!reading.exported) continue;
      if (this.#leftOut.has(agent.id)) this.#takeOver(agent.id);
      carried.set(agent.path, { reading, goesOnAs: undefined });
    }
    // Not seen again since the source before was closed: still to be reported.
    for (const [path, one] of this.#carried) {
      if (one.goesOnAs === undefined && !carried.has(path)) carried.set(path, one);
    }
    this.#carried = carried;
    this.#leftOut.clear();
  }

  #withCarried(agent: AgentSnapshot): AgentSnapshot {
    const carried = this.#carried.get(agent.path);
    if (carried === undefined) return agent;
    const { reading, goesOnAs } = carried;
    // Another source kept the tally alive, or it belongs to a later life of the agent: there is nothing to add.
    if (reading.id === agent.id || (goesOnAs !== undefined && goesOnAs !== agent.id)) {
      this.#carried.delete(agent.path);
      return agent;
    }
    if (goesOnAs === undefined) {
      carried.goesOnAs = agent.id;
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
   * Makes deltas begin where the last report of this agent ended, be it another producer's. One that came back may have
   * reported nothing since: its readings are older. `snapshot`: stands for a last collect where there was none.
   */
  #takeOver(id: number, snapshot?: FeedSnapshot): void {
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

  /** Returns the last readings of agents that the new source does not have, once. */
  #lastOf(present: ReadonlySet<string>): AgentSnapshot[] {
    const last: AgentSnapshot[] = [];
    for (const [path, { reading, goesOnAs }] of this.#carried) {
      if (present.has(path)) continue;
      this.#carried.delete(path);
      if (goesOnAs === undefined) last.push(reading);
    }
    return last;
  }
}

function eventsOf({ events }: AgentSnapshot): number {
  return events.reduce((sum, { count }) => sum + count, 0);
}
