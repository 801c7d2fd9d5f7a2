/** Median time of a size class, and how far it can be from that of all such transfers. Pure; the live page uses this module, too. */
import { exponentialCount, type ExponentialTally } from '../../ground/exponential.js';
import type { SizeClassTally } from '../../ground/tally.js';
import { meanBytesOf } from './size-figures.js';

/** One class on the way to a line. */
export interface ClassMedian {
  readonly upToBytes: number;
  readonly meanBytes: number;
  readonly medianUs: number;
  /** Standard error of the logarithm of the median, by chance alone: it falls with the root of the number of transfers. */
  readonly chance: number;
}

/** Replaces 0: agents report whole microseconds, rounded down, so that 0 is between 0 and 1. */
export const LEAST_MEDIAN_US = 0.5;

/**
 * The interval is that of the ranks: of n values, the median of all lies between the ranks n/2 - sqrt(n) and n/2 + sqrt(n) with
 * 95 %, which is two standard errors to each side, whatever the distribution is.
 */
export function classMedianOf(one: SizeClassTally): ClassMedian {
  const { exponential } = one.duration;
  const count = exponentialCount(exponential);
  const at = (rank: number): number => Math.max(LEAST_MEDIAN_US, valueAtRank(exponential, rank));
  const spread = Math.sqrt(count);
  return {
    upToBytes: one.upToBytes,
    meanBytes: meanBytesOf(one),
    medianUs: at(count / 2),
    chance: Math.log(at(count / 2 + spread) / at(count / 2 - spread)) / 4,
  };
}

/** Spreads the values of a bucket evenly over its whole numbers: its middle alone would be off by up to 4.4 % at scale 3. */
export function valueAtRank({ scale, zeroCount, offset, counts }: ExponentialTally, rank: number): number {
  let reached = zeroCount;
  if (rank <= reached || counts.length === 0) return 0;
  let i = 0;
  for (; i < counts.length - 1 && reached + counts[i]! < rank; i++) reached += counts[i]!;
  const share = counts[i]! > 0 ? Math.min(1, (rank - reached) / counts[i]!) : 0;
  const lower = 2 ** ((offset + i) / 2 ** scale);
  const upper = 2 ** ((offset + i + 1) / 2 ** scale);
  const first = Math.floor(lower) + 1;
  const last = Math.floor(upper);
  return first <= last ? first + share * (last - first) : lower + share * (upper - lower);
}
