/**
 * Growth of counts between two samples. The same array of readings again has the same counts: an idle fleet costs nothing. An
 * agent that began in between counts from 0. The counts of an agent that is new to the samples but began earlier are left out:
 * only a part of them belongs to this time. Pure.
 */
import type { ExponentialTally } from '../../exponential.js';
import type { AgentReading } from './reading.js';

export class CounterGrowth {
  #readings: readonly AgentReading[] | undefined;
  #before = new Map<number, readonly number[]>();
  #beforeMs = Infinity;

  /** Returns for each reading how much its counters grew since the last call; undefined if that is unknown. */
  take(takenMs: number, readings: readonly AgentReading[]): (readonly number[] | undefined)[] {
    const growth = readings === this.#readings ? noneOf(readings) : this.#since(readings);
    this.#readings = readings;
    this.#beforeMs = takenMs;
    return growth;
  }

  #since(readings: readonly AgentReading[]): (readonly number[] | undefined)[] {
    const before = this.#before;
    this.#before = new Map(readings.map(({ agent, counters }) => [agent.id, counters]));
    return readings.map(({ agent, counters }) => {
      const earlier = before.get(agent.id);
      if (earlier !== undefined) return counters.map((count, i) => Math.max(0, count - earlier[i]!));
      return agent.startTimeMs >= this.#beforeMs ? counters : undefined;
    });
  }
}

function noneOf(readings: readonly AgentReading[]): (readonly number[])[] {
  if (readings.length === 0) return [];
  return new Array<readonly number[]>(readings.length).fill(readings[0]!.counters.map(() => 0));
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
  readonly #select: (reading: AgentReading) => ExponentialTally | undefined;
  #readings: readonly AgentReading[] | undefined;
  /** Counts of the last call. */
  #before = new Map<number, Kept>();
  #beforeMs = Infinity;

  constructor(range: BucketRange, select: (reading: AgentReading) => ExponentialTally | undefined) {
    this.#range = range;
    this.#select = select;
  }

  /** Returns how much the counts of all agents grew since the last call, by place. */
  take(takenMs: number, readings: readonly AgentReading[]): Float64Array {
    const growth = new Float64Array(this.#range.places);
    if (readings !== this.#readings) this.#addSince(growth, readings);
    this.#readings = readings;
    this.#beforeMs = takenMs;
    return growth;
  }

  #addSince(growth: Float64Array, readings: readonly AgentReading[]): void {
    const before = this.#before;
    this.#before = new Map();
    for (const reading of readings) {
      const now = this.#select(reading);
      if (now === undefined) continue;
      const { id, startTimeMs } = reading.agent;
      const earlier = before.get(id);
      const kept = earlier ?? new Kept();
      this.#before.set(id, kept);
      if (!kept.isOlderThan(now)) continue;
      if (earlier !== undefined) this.#add(growth, kept, -1);
      kept.copy(now);
      if (earlier !== undefined || startTimeMs >= this.#beforeMs) this.#add(growth, kept, 1);
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
