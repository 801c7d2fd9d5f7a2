/** Percentiles of the times between two samples. Pure. */
import { exponentialSince, exponentialSum, type ExponentialTally } from '../../exponential.js';
import { percentilesOf } from '../figures/percentiles.js';
import { type Buckets, bucketsSince, bucketsSum, type Quantile, quantile } from './buckets.js';

/** Exponential counts, or the buckets of an exposition that has nothing else. */
export type TimeCounts = ExponentialTally | Buckets;

/** Microseconds. `max` is absent if only buckets are known. */
export interface TimeFigures {
  readonly p50: Quantile;
  readonly p90: Quantile;
  readonly p99: Quantile;
  readonly max?: Quantile;
}

export function timesSince(before: TimeCounts | undefined, now: TimeCounts): TimeCounts {
  if (isBuckets(now)) return bucketsSince(before !== undefined && isBuckets(before) ? before : undefined, now);
  return exponentialSince(before === undefined || isBuckets(before) ? undefined : before, now);
}

/** Returns undefined without values. */
export function timeFigures(times: TimeCounts): TimeFigures | undefined {
  if (!isBuckets(times)) {
    const percentiles = percentilesOf(times);
    if (percentiles === undefined) return undefined;
    const { p50, p90, p99, max } = percentiles;
    return { p50: { value: p50 }, p90: { value: p90 }, p99: { value: p99 }, max: { value: max } };
  }
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantile(times, share));
  return p50 && p90 && p99 ? { p50, p90, p99 } : undefined;
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
