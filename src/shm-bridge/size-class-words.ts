/** Time by size in the addon's words, see native/addon/words.h. */
import { type ExponentialTally, TALLY_SCALE } from '../ground/exponential.js';
import type { DirectionTimes, SizeClassTally, TimeBySize, TimesOfClass } from '../ground/tally.js';
import {
  CLASS_WORDS,
  ClassAt,
  DIRECTION_WORDS,
  DirectionAt,
  DISTRIBUTION_WORDS,
  DistributionAt,
} from './word-table.js';
import type { Words } from './words.js';

/** Class 0 holds up to 2^10 bytes, each further one up to twice as much, as in native/tally/size_class.h. */
export const SMALLEST_CLASS_BITS = 10;
/** Index of the class without an upper bound. */
export const LAST_CLASS = 21;

/** Reads both directions from the index `at` on. The counts are views of the words. */
export function timeBySizeAt(words: Words, at: number): TimeBySize {
  const transmit = directionAt(words, at);
  return { transmit: transmit.value, receive: directionAt(words, transmit.end).value };
}

interface Read<T> {
  readonly value: T;
  /** Index behind it. */
  readonly end: number;
}

function directionAt(words: Words, at: number): Read<DirectionTimes> {
  const classes: SizeClassTally[] = [];
  let end = at + DIRECTION_WORDS.length;
  for (let left = words.countAt(at + DirectionAt.classes); left > 0; left--) {
    const read = classAt(words, end);
    classes.push(read.value);
    end = read.end;
  }
  const startTimeMs = words.doubleAt(at + DirectionAt.start);
  const endedInPost = words.countAt(at + DirectionAt.endedInPost);
  const flushSquares = words.wideAt(at + DirectionAt.flushSquares);
  const value = { classes, endedInPost, flushSquares };
  return { value: startTimeMs === 0 ? value : { ...value, startTimeMs }, end };
}

function classAt(words: Words, at: number): Read<SizeClassTally> {
  const durations = distributionAt(words, at + CLASS_WORDS.length);
  const posts = distributionAt(words, durations.end);
  const index = words.countAt(at + ClassAt.index);
  const times = (place: number, exponential: ExponentialTally): TimesOfClass => ({
    sum: words.wideAt(at + place),
    exponential,
  });
  return {
    value: {
      upToBytes: index === LAST_CLASS ? Infinity : 2 ** (SMALLEST_CLASS_BITS + index),
      count: words.countAt(at + ClassAt.count),
      bytes: words.wideAt(at + ClassAt.bytes),
      duration: times(ClassAt.duration, durations.value),
      post: times(ClassAt.post, posts.value),
    },
    end: posts.end,
  };
}

function distributionAt(words: Words, at: number): Read<ExponentialTally> {
  const begin = at + DISTRIBUTION_WORDS.length;
  const buckets = words.countAt(at + DistributionAt.buckets);
  const value = {
    scale: TALLY_SCALE,
    zeroCount: words.countAt(at + DistributionAt.zeros),
    offset: words.signedAt(at + DistributionAt.first),
    counts: words.doublesAt(begin, buckets),
  };
  return { value, end: begin + buckets };
}
