/** Percentiles of times, from exponential counts or from the buckets of an exposition. Pure. */
import { exponentialSince, exponentialSum, type ExponentialTally } from '../../ground/exponential.js';
import { type Percentiles, percentilesOf } from './percentiles.js';

/** `counts[i]` holds values <= `bounds[i]`, the last count all values above. */
export interface Buckets {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

/** Exponential counts, or the buckets of an exposition that has nothing else. */
export type TimeCounts = ExponentialTally | Buckets;

/** Microseconds. `max` is absent if only buckets are known. */
export interface TimeFigures extends Omit<Percentiles, 'max'> {
  readonly max?: number;
  /** Percentiles of which only a bound is known. */
  readonly limits?: Readonly<Partial<Record<keyof Percentiles, Quantile['limit']>>>;
}

export function timesSince(before: TimeCounts | undefined, now: TimeCounts): TimeCounts {
  if (isBuckets(now)) return bucketsSince(before !== undefined && isBuckets(before) ? before : undefined, now);
  return exponentialSince(before === undefined || isBuckets(before) ? undefined : before, now);
}

/** Returns undefined without values. */
export function timeFigures(times: TimeCounts): TimeFigures | undefined {
  if (!isBuckets(times)) return percentilesOf(times);
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantile(times, share));
  if (!p50 || !p90 || !p99) return undefined;
  const limits = { p50: p50.limit, p90: p90.limit, p99: p99.limit };
  return { p50: p50.value, p90: p90.value, p99: p99.value, limits };
}

export function isBuckets(times: TimeCounts): times is Buckets {
  return 'bounds' in times;
}

/** Returns the counts of several agents together; undefined if they cannot be added. */
export function sumOfTimes(all: readonly TimeCounts[]): TimeCounts | undefined {
  const exponentials = all.filter((times): times is ExponentialTally => !isBuckets(times));
  if (exponentials.length === all.length) return exponentialSum(exponentials);
  const buckets = all.filter(isBuckets);
  return exponentials.length === 0 ? bucketsSum(buckets) : undefined;
}

/** Returns the difference per bucket. If one count fell, the whole histogram restarted. */
export function bucketsSince(before: Buckets | undefined, now: Buckets): Buckets {
  const earlier = before?.counts;
  if (earlier?.length !== now.counts.length || now.counts.some((count, i) => count < earlier[i]!)) return now;
  return { bounds: now.bounds, counts: now.counts.map((count, i) => count - earlier[i]!) };
}

/** Returns the sums per bucket; undefined without histograms, and if their bounds differ. */
export function bucketsSum(all: readonly Buckets[]): Buckets | undefined {
  const [first, ...others] = all;
  if (first === undefined) return undefined;
  const isAlike = ({ bounds }: Buckets): boolean =>
    bounds.length === first.bounds.length && bounds.every((bound, i) => bound === first.bounds[i]);
  if (!others.every(isAlike)) return undefined;
  return {
    bounds: first.bounds,
    counts: first.counts.map((_, i) => all.reduce((sum, one) => sum + one.counts[i]!, 0)),
  };
}

export interface Quantile {
  readonly value: number;
  /** `below`: the value lies in the first bucket, `above`: above the last bound. `value` is then the only known bound. */
  readonly limit?: 'below' | 'above';
}

/**
 * Estimates the value below which a share of all values lies, 0 < share <= 1. Values count as evenly spread within a bucket,
 * as in Prometheus's histogram_quantile(), but not within the first one: it spans all orders of magnitude.
 * @returns undefined without values.
 */
export function quantile({ bounds, counts }: Buckets, share: number): Quantile | undefined {
  const total = counts.reduce((all, count) => all + count, 0);
  if (total <= 0) return undefined;
  const rank = share * total;
  let reached = 0;
  for (const [i, upper] of bounds.entries()) {
    const count = counts[i]!;
    if (count > 0 && reached + count >= rank) {
      if (i === 0) return { value: upper, limit: 'below' };
      const lower = bounds[i - 1]!;
      return { value: lower + ((upper - lower) * (rank - reached)) / count };
    }
    reached += count;
  }
  return { value: bounds.at(-1) ?? 0, limit: 'above' };
}
