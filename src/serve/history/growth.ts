/**
 * Growth of counts between two samples. The same array of agents again has the same counts: an idle fleet costs nothing. An
 * agent that began in between counts from 0. The counts of an agent that is new to the samples but began earlier are left out:
 * only a part of them belongs to this time. Pure.
 */
import type { ExponentialTally } from '../../ground/exponential.js';
import { isSlow } from '../../view/figures/slow-flushes.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import { countersOf } from './counters.js';
import { FlushSpread, type Growth, HeldCounts } from './flush-spread.js';

export class CounterGrowth {
  #agents: readonly ServedAgent[] | undefined;
  #before = new Map<number, readonly number[]>();
  #beforeMs = Infinity;
  readonly #spread = new FlushSpread();

  /**
   * Returns the growth of each agent since the last call, spread over the time between its flushes. What is left of agents that
   * are gone follows.
   */
  take(takenMs: number, agents: readonly ServedAgent[]): Growth {
    const growth = agents === this.#agents ? noneOf(agents) : this.#since(agents);
    this.#agents = agents;
    this.#beforeMs = takenMs;
    return this.#spread.take(takenMs, agents, growth);
  }

  #since(agents: readonly ServedAgent[]): Growth {
    const before = this.#before;
    this.#before = new Map(agents.map((agent) => [agent.id, countersOf(agent)]));
    return agents.map(({ id, startTimeMs }) => {
      const [earlier, counters] = [before.get(id), this.#before.get(id)!];
      if (earlier !== undefined) return counters.map((count, i) => Math.max(0, count - earlier[i]!));
      return startTimeMs >= this.#beforeMs ? counters : undefined;
    });
  }
}

function noneOf(agents: readonly ServedAgent[]): (readonly number[])[] {
  if (agents.length === 0) return [];
  return new Array<readonly number[]>(agents.length).fill(countersOf(agents[0]!).map(() => 0));
}

/** Range of buckets with a count each: place 0 has zeros and the bucket -1, the last place all higher buckets. */
export interface BucketRange {
  readonly scale: number;
  readonly places: number;
}

/** Bucket of place 0. */
export const LOWEST_BUCKET = -1;

/** Copy of the counts of a histogram. Those of a snapshot would keep its memory. */
class Kept {
  scale = 0;
  zeroCount = 0;
  offset = 0;
  length = 0;
  counts = new Float64Array(0);
  total = 0;

  /** Returns false if the histogram has no further value. */
  isOlderThan({ zeroCount, counts }: ExponentialTally): boolean {
    let total = zeroCount;
    for (let i = 0; i < counts.length; i++) total += counts[i]!;
    return total !== this.total;
  }

  /** Reuses the memory: buckets are rarely added. */
  copy({ scale, zeroCount, offset, counts }: ExponentialTally): void {
    if (counts.length > this.counts.length) this.counts = new Float64Array(counts.length);
    this.counts.set(counts);
    this.scale = scale;
    this.zeroCount = zeroCount;
    this.offset = offset;
    this.length = counts.length;
    this.total = zeroCount;
    for (let i = 0; i < counts.length; i++) this.total += counts[i]!;
  }
}

export class BucketGrowth {
  readonly #range: BucketRange;
  readonly #select: (agent: ServedAgent) => ExponentialTally | undefined;
  #agents: readonly ServedAgent[] | undefined;
  /** Counts of the last call. */
  #before = new Map<number, Kept>();
  readonly #held = new Map<number, HeldCounts>();
  #beforeMs = Infinity;

  constructor(range: BucketRange, select: (agent: ServedAgent) => ExponentialTally | undefined) {
    this.#range = range;
    this.#select = select;
  }

  /** Returns how much the counts of all agents grew since the last call, by place, spread over the time between flushes. */
  take(takenMs: number, agents: readonly ServedAgent[]): Float64Array {
    const growth = new Float64Array(this.#range.places);
    if (agents !== this.#agents) this.#addSince(growth, agents);
    for (const [id, held] of this.#held) {
      if (!held.release(growth, Math.max(0, takenMs - this.#beforeMs))) this.#held.delete(id);
    }
    this.#agents = agents;
    this.#beforeMs = takenMs;
    return growth;
  }

  #addSince(growth: Float64Array, agents: readonly ServedAgent[]): void {
    const before = this.#before;
    this.#before = new Map();
    for (const agent of agents) {
      const now = this.#select(agent);
      if (now === undefined) continue;
      const { id, startTimeMs, flushIntervalMs } = agent;
      const earlier = before.get(id);
      const kept = earlier ?? new Kept();
      this.#before.set(id, kept);
      if (!kept.isOlderThan(now)) continue;
      const target = isSlow(flushIntervalMs) ? new Float64Array(growth.length) : growth;
      if (earlier !== undefined) this.#add(target, kept, -1);
      kept.copy(now);
      if (earlier !== undefined || startTimeMs >= this.#beforeMs) this.#add(target, kept, 1);
      if (isSlow(flushIntervalMs)) this.#hold(id, target, flushIntervalMs);
    }
  }

  #hold(id: number, grown: Float64Array, flushIntervalMs: number): void {
    const held = this.#held.get(id) ?? new HeldCounts(grown.length);
    this.#held.set(id, held);
    for (let place = 0; place < grown.length; place++) {
      const count = grown[place]!;
      if (count > 0) held.hold(place, count, flushIntervalMs);
    }
  }

  #add(growth: Float64Array, { scale, zeroCount, offset, counts, length }: Kept, factor: 1 | -1): void {
    const shift = scale - this.#range.scale;
    const last = growth.length - 1;
    growth[0]! += factor * zeroCount;
    // An arithmetic shift rounds down, so that bucket -1 stays bucket -1.
    for (let i = 0; i < length; i++) {
      growth[Math.min(((offset + i) >> shift) - LOWEST_BUCKET, last)]! += factor * counts[i]!;
    }
  }
}
