/** Arithmetic on base-2 exponential histograms, as OpenTelemetry defines them. Pure. */

/** Scale of the histograms that native code keeps, as in native/tally/histogram.h: sixteen buckets for each power of two. */
export const TALLY_SCALE = 4;

/** Bucket i holds values in (base^i, base^(i+1)], with base = 2^(2^-scale): bucket -1 ends with the value 1. */
export interface ExponentialTally {
  readonly scale: number;
  /** Values of 0. */
  readonly zeroCount: number;
  /** Index of the bucket that `counts` begins with. */
  readonly offset: number;
  /** From the first to the last bucket with values; empty without values above 0. */
  readonly counts: ArrayLike<number>;
}

const NO_COUNTS: ArrayLike<number> = [];

/**
 * Returns the value that replaces all values of a bucket: the middle of its whole numbers, so that a bucket with one
 * whole number has its exact value; the middle of a bucket that has none.
 */
export function bucketMiddle({ scale }: Pick<ExponentialTally, 'scale'>, index: number): number {
  const lower = 2 ** (index / 2 ** scale);
  const upper = 2 ** ((index + 1) / 2 ** scale);
  const first = Math.floor(lower) + 1;
  const last = Math.floor(upper);
  return first <= last ? (first + last) / 2 : (lower + upper) / 2;
}

export function exponentialCount({ zeroCount, counts }: ExponentialTally): number {
  let count = zeroCount;
  for (let i = 0; i < counts.length; i++) count += counts[i]!;
  return count;
}

/** Returns the value of the lowest bucket with values; undefined without values. */
export function lowestValue(tally: ExponentialTally): number | undefined {
  if (tally.zeroCount > 0) return 0;
  return tally.counts.length === 0 ? undefined : bucketMiddle(tally, tally.offset);
}

/** Returns the value of the highest bucket with values; undefined without values. */
export function highestValue(tally: ExponentialTally): number | undefined {
  const { counts, offset, zeroCount } = tally;
  if (counts.length > 0) return bucketMiddle(tally, offset + counts.length - 1);
  return zeroCount > 0 ? 0 : undefined;
}

/** Merges buckets until the scale is at most `scale`. Each bucket of the result is a union of buckets: no count moves. */
export function atScale(tally: ExponentialTally, scale: number): ExponentialTally {
  if (tally.scale <= scale) return tally;
  const { counts, zeroCount } = tally;
  const width = 2 ** (tally.scale - scale);
  // Rounds down: the buckets -1 and -2 merge to -1, not to 0.
  const merged = (index: number): number => Math.floor(index / width);
  const offset = merged(tally.offset);
  const length = counts.length === 0 ? 0 : merged(tally.offset + counts.length - 1) - offset + 1;
  const sums = new Float64Array(length);
  for (let i = 0; i < counts.length; i++) sums[merged(tally.offset + i) - offset]! += counts[i]!;
  return { scale, zeroCount, offset, counts: sums };
}

/** Returns the values since `before`, at the lower scale of both. Returns `now` if any count fell: then it began anew. */
export function exponentialSince(before: ExponentialTally | undefined, now: ExponentialTally): ExponentialTally {
  if (before === undefined) return now;
  const scale = Math.min(before.scale, now.scale);
  const earlier = atScale(before, scale);
  const { zeroCount, offset, counts } = atScale(now, scale);
  if (zeroCount < earlier.zeroCount) return now;
  const increases = new Float64Array(counts); // several times as fast as Float64Array.from()
  for (let i = 0; i < earlier.counts.length; i++) {
    const count = earlier.counts[i]!;
    const place = earlier.offset + i - offset;
    if (count > (increases[place] ?? 0)) return now;
    if (count > 0) increases[place]! -= count;
  }
  return trimmed(scale, zeroCount - earlier.zeroCount, offset, increases);
}

/** Returns the values of all tallies, at the lowest of their scales; undefined without tallies. */
export function exponentialSum(tallies: readonly ExponentialTally[]): ExponentialTally | undefined {
  if (tallies.length <= 1) return tallies[0];
  const scale = Math.min(...tallies.map((tally) => tally.scale));
  const alike = tallies.map((tally) => atScale(tally, scale));
  const zeroCount = alike.reduce((sum, tally) => sum + tally.zeroCount, 0);
  const filled = alike.filter(({ counts }) => counts.length > 0);
  if (filled.length === 0) return { scale, zeroCount, offset: 0, counts: NO_COUNTS };
  const offset = Math.min(...filled.map((tally) => tally.offset));
  const end = Math.max(...filled.map((tally) => tally.offset + tally.counts.length));
  const sums = new Float64Array(end - offset);
  for (const tally of filled) {
    for (let i = 0; i < tally.counts.length; i++) sums[tally.offset - offset + i]! += tally.counts[i]!;
  }
  return { scale, zeroCount, offset, counts: sums };
}

/** Returns a tally without the empty buckets at both ends of `counts`, which begins with the bucket `offset`. */
export function trimmed(scale: number, zeroCount: number, offset: number, counts: Float64Array): ExponentialTally {
  let first = 0;
  let end = counts.length;
  while (first < end && !(counts[first]! > 0)) first++;
  if (first === end) return { scale, zeroCount, offset: 0, counts: NO_COUNTS };
  while (!(counts[end - 1]! > 0)) end--;
  return { scale, zeroCount, offset: offset + first, counts: counts.subarray(first, end) };
}
