/**
 * Growth of counts between two samples. An agent that began in between counts from 0. The counts of an agent that is new to the
 * samples but began earlier are left out: only a part of them belongs to this time. Pure.
 */
import { type ExponentialTally, TALLY_SCALE } from '../../exponential.js';
import type { AgentReading } from './reading.js';

export class CounterGrowth {
  #before = new Map<number, Float64Array>();
  #beforeMs = Infinity;

  /** Returns for each reading how much its counters grew since the last call; undefined if that is unknown. */
  take(takenMs: number, readings: readonly AgentReading[]): (Float64Array | undefined)[] {
    const before = this.#before;
    this.#before = new Map(readings.map(({ agent, counters }) => [agent.id, counters]));
    const growth = readings.map(({ agent, counters }) => {
      const earlier = before.get(agent.id);
      if (earlier !== undefined) return counters.map((count, i) => Math.max(0, count - earlier[i]!));
      return agent.startTimeMs >= this.#beforeMs ? counters : undefined;
    });
    this.#beforeMs = takenMs;
    return growth;
  }
}

/** Range of buckets with a count each: place 0 has zeros and the bucket -1, the last place all higher buckets. */
export interface BucketRange {
  readonly scale: number;
  readonly places: number;
}

/** Bucket of place 0. */
export const LOWEST_BUCKET = -1;

interface Kept {
  readonly zeroCount: number;
  readonly offset: number;
  readonly counts: Float64Array;
  readonly total: number;
}

export class BucketGrowth {
  readonly #range: BucketRange;
  readonly #select: (reading: AgentReading) => ExponentialTally | undefined;
  /** Counts of the last call. Copies: those of a snapshot would keep its memory. */
  #before = new Map<number, Kept>();
  #beforeMs = Infinity;

  constructor(range: BucketRange, select: (reading: AgentReading) => ExponentialTally | undefined) {
    this.#range = range;
    this.#select = select;
  }

  /** Returns how much the counts of all agents grew since the last call, by place. */
  take(takenMs: number, readings: readonly AgentReading[]): Float64Array {
    const growth = new Float64Array(this.#range.places);
    const before = this.#before;
    this.#before = new Map();
    for (const reading of readings) {
      const now = this.#select(reading);
      if (now === undefined) continue;
      const { id, startTimeMs } = reading.agent;
      const earlier = before.get(id);
      const kept = keptOf(now, earlier);
      this.#before.set(id, kept);
      if (kept === earlier) continue;
      if (earlier !== undefined) this.#add(growth, earlier, -1);
      if (earlier !== undefined || startTimeMs >= this.#beforeMs) this.#add(growth, kept, 1);
    }
    this.#beforeMs = takenMs;
    return growth;
  }

  #add(growth: Float64Array, { zeroCount, offset, counts }: Kept, factor: 1 | -1): void {
    const shift = TALLY_SCALE - this.#range.scale;
    const last = growth.length - 1;
    growth[0]! += factor * zeroCount;
    // An arithmetic shift rounds down, so that bucket -1 stays bucket -1.
    for (let i = 0; i < counts.length; i++) {
      growth[Math.min(((offset + i) >> shift) - LOWEST_BUCKET, last)]! += factor * counts[i]!;
    }
  }
}

/** Returns `before` if no value was added. */
function keptOf({ zeroCount, offset, counts }: ExponentialTally, before: Kept | undefined): Kept {
  let total = zeroCount;
  for (let i = 0; i < counts.length; i++) total += counts[i]!;
  return before?.total === total ? before : { zeroCount, offset, counts: new Float64Array(counts), total };
}
