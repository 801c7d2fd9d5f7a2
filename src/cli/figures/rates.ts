/** Rates and counts of the time between two samples. Pure; the live page uses this module, too. */
import { type Exact, increase, sum } from '../../exact.js';

export interface Sample<Agent> {
  /** Milliseconds since the epoch. */
  readonly takenMs: number;
  readonly agents: readonly Agent[];
}

export interface Counted {
  /** Identifies the agent in every sample. */
  readonly id: number | string;
  /** Time at which the counters were 0, milliseconds since the epoch; absent if unknown. */
  readonly startTimeMs?: number;
}

/**
 * The time between two samples of agents. An agent that started in between counts from 0. An agent that started earlier but
 * is missing in the first sample is left out: only a part of its value belongs to this time. A counter that fell restarted.
 */
export class Interval<Agent extends Counted> {
  /** Undefined without an earlier sample, and if the clock was set back. */
  readonly seconds: number | undefined;
  readonly #beforeMs: number;
  readonly #before: ReadonlyMap<Agent['id'], Agent>;
  readonly #isComparable: (now: Agent, before: Agent) => boolean;

  /** `isComparable`: returns false if two states have the same id, but do not belong to the same agent. */
  constructor(
    before: Sample<Agent> | undefined,
    now: Sample<Agent>,
    isComparable: (now: Agent, before: Agent) => boolean = () => true,
  ) {
    this.#beforeMs = before?.takenMs ?? -Infinity;
    this.#before = new Map(before?.agents.map((agent) => [agent.id, agent]));
    this.#isComparable = isComparable;
    this.seconds =
      before !== undefined && now.takenMs > before.takenMs ? (now.takenMs - before.takenMs) / 1000 : undefined;
  }

  /** Returns a counter's increase per second, summed over agents; undefined if no agent can be compared. */
  rate(agents: readonly Agent[], counter: (agent: Agent) => Exact): number | undefined {
    const pairs = this.#pairs(agents);
    if (this.seconds === undefined || (pairs.length === 0 && agents.length > 0)) return undefined;
    const increases = pairs.map(([now, before]) => increase(counter(now), before && counter(before)));
    return Number(increases.reduce(sum, 0n)) / this.seconds;
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
    return this.#pairs(agents).flatMap(([now, before]) => {
      const all = counts(now);
      return all === undefined ? [] : [since(before && counts(before), all)];
    });
  }

  #pairs(agents: readonly Agent[]): (readonly [now: Agent, before: Agent | undefined])[] {
    return agents
      .map((now) => [now, this.#before.get(now.id)] as const)
      .filter(([now, before]) => {
        if (before !== undefined) return this.#isComparable(now, before);
        return (now.startTimeMs ?? -Infinity) >= this.#beforeMs;
      });
  }
}
