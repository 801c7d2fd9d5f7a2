/** Numbers of a block of transfers in words of 16 bits: hundreds of agents keep minutes of blocks. Pure. */
import { bucketMiddle, type ExponentialTally, TALLY_SCALE } from '../../ground/exponential.js';

const WORD = 2 ** 16;
/** Bits of a word that hold the count of a bucket. The others hold the bucket: 1,023 of them reach beyond 2^62 microseconds. */
const COUNT_BITS = 6;
/** Mark of a larger count, which follows in two further words. */
const LONG_COUNT = 2 ** COUNT_BITS - 1;
const LONG_COUNT_WORDS = 2;
/** Place of bucket i: 0 is for times of 0, and bucket -1 ends with the value 1. */
const PLACE_OF_BUCKET = 2;
const PLACES = 1024;

/** Appends the growth since `before` to `words`. Returns false if a count fell: the distribution began anew. */
export function packGrowth(before: ExponentialTally | undefined, now: ExponentialTally, words: number[]): boolean {
  const zeros = now.zeroCount - (before?.zeroCount ?? 0);
  if (zeros < 0) return false;
  if (zeros > 0) pushCount(0, zeros, words);
  const shift = now.offset - (before?.offset ?? now.offset);
  if (before !== undefined && before.counts.length > 0 && (shift > 0 || now.counts.length === 0)) return false;
  const earlier = before?.counts;
  for (let i = 0; i < now.counts.length; i++) {
    const grown = now.counts[i]! - (earlier?.[i + shift] ?? 0);
    if (grown < 0) return false;
    if (grown > 0) pushCount(now.offset + i + PLACE_OF_BUCKET, grown, words);
  }
  return true;
}

function pushCount(place: number, count: number, words: number[]): void {
  words.push((Math.min(PLACES - 1, place) << COUNT_BITS) | Math.min(LONG_COUNT, count));
  if (count >= LONG_COUNT) pushNumber(count, LONG_COUNT_WORDS, words);
}

/** Calls `take` with each place and its count in the words from `begin` to `end`. */
export function eachCount(
  words: Uint16Array,
  begin: number,
  end: number,
  take: (place: number, count: number) => void,
): void {
  for (let at = begin; at < end; at++) {
    const word = words[at]!;
    const count = word & LONG_COUNT;
    if (count < LONG_COUNT) take(word >>> COUNT_BITS, count);
    else {
      take(word >>> COUNT_BITS, numberAt(words, at + 1, LONG_COUNT_WORDS));
      at += LONG_COUNT_WORDS;
    }
  }
}

/** Appends an integer from 0 to 2^(16 * `length`), the highest word first. */
export function pushNumber(value: number, length: number, words: number[]): void {
  for (let i = length - 1; i >= 0; i--) words.push(Math.floor(value / WORD ** i) % WORD);
}

export function numberAt(words: Uint16Array, at: number, length: number): number {
  let value = 0;
  for (let i = at; i < at + length; i++) value = value * WORD + words[i]!;
  return value;
}

const VALUES = Float64Array.from({ length: PLACES }, (_, place) =>
  place === 0 ? 0 : bucketMiddle({ scale: TALLY_SCALE }, place - PLACE_OF_BUCKET),
);

/** Returns the time that replaces those of a place, microseconds. */
export function timeAt(place: number): number {
  return VALUES[place]!;
}
