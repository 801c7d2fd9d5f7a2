/** Quantiles of time and the rate of one size class in one run, each with its interval, as logarithms. Pure. */
import {
  atScale,
  bucketMiddle,
  exponentialCount,
  exponentialSum,
  type ExponentialTally,
} from '../ground/exponential.js';
import { LEAST_MEDIAN_US, valueAtRank } from '../view/sizes/class-median.js';
import { halfWidth } from './chance.js';

/** Transfers of one direction and size class in a slice of time. */
export interface ClassSlice {
  readonly transfers: number;
  readonly bytes: number;
  /** Sum, microseconds. */
  readonly totalUs: number;
  readonly timesUs: ExponentialTally;
}

/** Logarithm of a figure; how far below and above it the true one can be. Infinity: as far as can be. */
export interface RunFigure {
  readonly log: number;
  readonly below: number;
  readonly above: number;
}

/** The time that this share of the transfers stays below. Returns undefined without times. */
export function quantileFigure(slices: readonly ClassSlice[], share: number, sure: number): RunFigure | undefined {
  const filled = slices.filter(({ timesUs }) => exponentialCount(timesUs) > 0);
  const all = exponentialSum(filled.map(({ timesUs }) => timesUs));
  if (all === undefined) return undefined;
  const count = exponentialCount(all);
  const rank = share * count;
  const place = placeAtRank(all, rank);
  const deviations = filled.map(({ timesUs }) => {
    return countBelow(atScale(timesUs, all.scale), place) - share * exponentialCount(timesUs);
  });
  const ranks = halfWidth(deviations, share * (1 - share) * count, sure);
  const at = (one: number): number => Math.log(Math.max(LEAST_MEDIAN_US, valueAtRank(all, one)));
  const log = at(rank);
  return {
    log,
    below: ranks < rank ? log - at(rank - ranks) : Infinity,
    above: ranks < count - rank ? at(rank + ranks) - log : Infinity,
  };
}

/**
 * Bytes per second of time in a transfer. `longestUs`: of all transfers that are compared: as rare ones decide over sums of times,
 * the other side could have had that one as well. Returns undefined if no transfer took a microsecond.
 */
export function rateFigure(slices: readonly ClassSlice[], longestUs: number, sure: number): RunFigure | undefined {
  const bytes = slices.reduce((sum, one) => sum + one.bytes, 0);
  const us = slices.reduce((sum, one) => sum + one.totalUs, 0);
  if (us === 0 || bytes === 0) return undefined;
  const deviations = slices.map((one) => one.totalUs / us - one.bytes / bytes);
  const independent = squaresAroundMean(slices, us) + (longestUs / us) ** 2;
  const part = halfWidth(deviations, independent, sure);
  return {
    log: Math.log((bytes * 1e6) / us),
    below: Math.log(1 + part),
    above: part < 1 ? -Math.log(1 - part) : Infinity,
  };
}

/** Variance of the sum of times, as a part of the squared sum, if no transfer depends on another. */
function squaresAroundMean(slices: readonly ClassSlice[], us: number): number {
  const all = exponentialSum(slices.map(({ timesUs }) => timesUs))!;
  const mean = us / exponentialCount(all);
  let squares = all.zeroCount * mean ** 2;
  for (let i = 0; i < all.counts.length; i++) {
    squares += all.counts[i]! * (bucketMiddle(all, all.offset + i) - mean) ** 2;
  }
  return squares / us ** 2;
}

/** Part of a bucket; `ZERO` for the times of 0. */
interface BucketPlace {
  readonly bucket: number;
  readonly share: number;
}
const ZERO = -Infinity;

function placeAtRank({ zeroCount, offset, counts }: ExponentialTally, rank: number): BucketPlace {
  if (rank <= zeroCount) return { bucket: ZERO, share: rank / zeroCount };
  let left = rank - zeroCount;
  let i = 0;
  for (; i < counts.length - 1 && counts[i]! < left; i++) left -= counts[i]!;
  return { bucket: offset + i, share: left / counts[i]! };
}

/** Counts the times below a place: of its bucket, the share of it. */
function countBelow({ zeroCount, offset, counts }: ExponentialTally, { bucket, share }: BucketPlace): number {
  if (bucket === ZERO) return share * zeroCount;
  let count = zeroCount + share * (counts[bucket - offset] ?? 0);
  for (let i = 0; i < counts.length && offset + i < bucket; i++) count += counts[i]!;
  return count;
}
