/** Percentiles of the values in an exponential histogram. Pure; the live page uses this module, too. */
import { bucketMiddle, exponentialCount, type ExponentialTally, highestValue } from '../../ground/exponential.js';

/** In the unit of the values. At scale 4 each is within 2.3 % of a value that occurred, and whole numbers up to 26 are exact. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
  /** Number of the values; absent where it is not known. */
  readonly count?: number;
}

/** Returns undefined without values. */
export function percentilesOf(exponential: ExponentialTally): Percentiles | undefined {
  const max = highestValue(exponential);
  if (max === undefined) return undefined;
  const total = exponentialCount(exponential);
  // The nearest rank is that of a value that occurred: the p99 of ten values is the largest one.
  const at = (percent: number): number => valueAt(exponential, (percent * total) / 100);
  return { p50: at(50), p90: at(90), p99: at(99), max, count: Math.round(total) };
}

/** Returns the value with this rank, or the next higher one. Ranks begin above 0: a count may be a fraction. */
function valueAt(exponential: ExponentialTally, rank: number): number {
  const { zeroCount, offset, counts } = exponential;
  let reached = zeroCount;
  if (reached >= rank) return 0;
  const last = counts.length - 1;
  let i = 0;
  for (; i < last; i++) {
    reached += counts[i]!;
    if (reached >= rank) break;
  }
  return bucketMiddle(exponential, offset + i);
}
