/** Rates and counts of the time between two samples. Pure; the live page uses this module, too. */
import { type Exact, increase, sum } from '../../ground/exact.js';

export interface Sample<Agent> {
  /** Milliseconds since the epoch. */
  readonly takenMs: number;
  readonly agents: readonly Agent[];
}

export interface Counted {
  /** Identifies the agent in every sample. */
  readonly id: number | string;
  /** Time at which the counters were 0, milliseconds since the epoch; absent if unknown. */
  readonly startTimeMs?: number | undefined;
}

/** States of an agent after two flushes, and the time between these. */
export interface FlushPair<Agent> {
  readonly now: Agent;
  readonly before: Agent;
  readonly seconds: number;
}

/**
 * The time between two samples of agents. An agent that started in between counts from 0. An agent that started earlier but
 * is missing in the first sample is left out: only a part of its value belongs to this time. A counter that fell restarted. An
 * agent that flushes more rarely has the time between its last two flushes instead.
 */
export class Interval<Agent extends Counted> {
  /** Undefined without an earlier sample, and if the clock was set back. */
  readonly seconds: number | undefined;
  readonly #beforeMs: number;
  readonly #before: ReadonlyMap<Agent['id'], Agent>;
  readonly #isComparable: (now: Agent, before: Agent) => boolean;
  readonly #slow: ReadonlyMap<Agent['id'], FlushPair<Agent> | undefined>;

  /**
   * `isComparable`: returns false if two states have the same id, but do not belong to the same agent. `slow`: what
   * SlowFlushes.take() returned for `now`.
   */
  constructor(
    before: Sample<Agent> | undefined,
    now: Sample<Agent>,
    isComparable: (now: Agent, before: Agent) => boolean = () => true,
    slow: ReadonlyMap<Agent['id'], FlushPair<Agent> | undefined> = new Map(),
  ) {
    this.#slow = slow;
    this.#beforeMs = before?.takenMs ?? -Infinity;
    this.#before = new Map(before?.agents.map((agent) => [agent.id, agent]));
    this.#isComparable = isComparable;
    this.seconds =
      before !== undefined && now.takenMs > before.takenMs ? (now.takenMs - before.takenMs) / 1000 : undefined;
  }

  /** Returns a counter's increase per second, summed over agents; undefined if no agent can be compared. */
  rate(agents: readonly Agent[], counter: (agent: Agent) => Exact): number | undefined {
    const pairs = this.#pairs(agents);
    const slow = this.#slowPairs(agents);
    if (this.seconds === undefined || (pairs.length + slow.length === 0 && agents.length > 0)) return undefined;
    const increases = pairs.map(([now, before]) => increase(counter(now), before && counter(before)));
    const ofSlow = slow.map(({ now, before, seconds }) => Number(increase(counter(now), counter(before))) / seconds);
    return ofSlow.reduce((all, rate) => all + rate, Number(increases.reduce(sum, 0n)) / this.seconds);
  }

  /**
   * Returns the counts that each agent added, by `since`, which gets undefined for an agent that started in between. Without
   * an earlier sample these are all counts.
   */
  increases<Counts>(
    agents: readonly Agent[],
    counts: (agent: Agent) => Counts | undefined,
    since: (before: Counts | undefined, now: Counts) => Counts,
  ): Counts[] {
    const slow = this.#slowPairs(agents).map(({ now, before }) => [now, before] as const);
    return [...this.#pairs(agents), ...slow].flatMap(([now, before]) => {
      const all = counts(now);
      return all === undefined ? [] : [since(before && counts(before), all)];
    });
  }

  #slowPairs(agents: readonly Agent[]): FlushPair<Agent>[] {
    return agents.flatMap(({ id }) => this.#slow.get(id) ?? []);
  }

  #pairs(agents: readonly Agent[]): (readonly [now: Agent, before: Agent | undefined])[] {
    return agents
      .filter(({ id }) => !this.#slow.has(id))
      .map((now) => [now, this.#before.get(now.id)] as const)
      .filter(([now, before]) => {
        if (before !== undefined) return this.#isComparable(now, before);
        return (now.startTimeMs ?? -Infinity) >= this.#beforeMs;
      });
  }
}
