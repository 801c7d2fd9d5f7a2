/** Counts of times that a distribution gained, in one word for each bucket. Pure. */
import { bucketMiddle, type ExponentialTally, TALLY_SCALE } from '../../ground/exponential.js';

/** Bits of a word that hold the count. The others hold the bucket: 1,023 of them reach beyond 2^62 microseconds. */
const COUNT_BITS = 22;
const MOST_COUNT = 2 ** COUNT_BITS - 1;
/** Place of bucket i: 0 is for times of 0, and bucket -1 ends with the value 1. */
const PLACE_OF_BUCKET = 2;
const PLACES = 1024;

/** Appends the growth since `before` to `words`. Returns false if a count fell: the distribution began anew. */
export function packGrowth(before: ExponentialTally | undefined, now: ExponentialTally, words: number[]): boolean {
  const zeros = now.zeroCount - (before?.zeroCount ?? 0);
  if (zeros < 0) return false;
  if (zeros > 0) words.push(packed(0, zeros));
  const shift = now.offset - (before?.offset ?? now.offset);
  if (before !== undefined && before.counts.length > 0 && (shift > 0 || now.counts.length === 0)) return false;
  const earlier = before?.counts;
  for (let i = 0; i < now.counts.length; i++) {
    const grown = now.counts[i]! - (earlier?.[i + shift] ?? 0);
    if (grown < 0) return false;
    if (grown > 0) words.push(packed(now.offset + i + PLACE_OF_BUCKET, grown));
  }
  return true;
}

function packed(place: number, count: number): number {
  return ((Math.min(PLACES - 1, place) << COUNT_BITS) | Math.min(MOST_COUNT, count)) >>> 0;
}

export function placeOf(word: number): number {
  return word >>> COUNT_BITS;
}

export function countOf(word: number): number {
  return word & MOST_COUNT;
}

const VALUES = Float64Array.from({ length: PLACES }, (_, place) =>
  place === 0 ? 0 : bucketMiddle({ scale: TALLY_SCALE }, place - PLACE_OF_BUCKET),
);

/** Returns the time that replaces those of a place, microseconds. */
export function timeAt(place: number): number {
  return VALUES[place]!;
}
