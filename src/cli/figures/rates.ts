/** Rates and distributions of the time between two samples. Pure; the live page uses this module, too. */
import { type Exact, increase, sum } from '../../exact.js';
import type { HistogramTally } from '../../tally.js';

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

  /** Returns counts per bucket, summed over agents. Without an earlier sample these are all counts. */
  counts(agents: readonly Agent[], buckets: (agent: Agent) => readonly number[] | undefined): number[] {
    const total: number[] = [];
    for (const [now, before] of this.#pairs(agents)) {
      const counts = countsSince(before && buckets(before), buckets(now) ?? []);
      counts.forEach((count, i) => (total[i] = (total[i] ?? 0) + count));
    }
    return total;
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

/** Returns the difference per bucket. If one count fell, the whole histogram restarted. */
export function countsSince(before: readonly number[] | undefined, now: readonly number[]): readonly number[] {
  if (before?.length !== now.length || now.some((count, i) => count < before[i]!)) return now;
  return now.map((count, i) => count - before[i]!);
}

export interface Quantile {
  readonly value: number;
  /** True if the value lies above the last bound. `value` is then that bound. */
  readonly above: boolean;
}

/**
 * Estimates the value below which a share of all values lies, 0 < share <= 1. Values count as evenly spread within a bucket,
 * as in Prometheus's histogram_quantile().
 * @returns undefined without values.
 */
export function quantile({ bounds, counts }: HistogramTally, share: number): Quantile | undefined {
  const total = counts.reduce((all, count) => all + count, 0);
  if (total <= 0) return undefined;
  const rank = share * total;
  let below = 0;
  for (const [i, upper] of bounds.entries()) {
    const count = counts[i]!;
    if (count > 0 && below + count >= rank) {
      const lower = i === 0 ? 0 : bounds[i - 1]!;
      return { value: lower + ((upper - lower) * (rank - below)) / count, above: false };
    }
    below += count;
  }
  return { value: bounds.at(-1) ?? 0, above: true };
}
