/** Sums over blocks of transfers, to which blocks are added and from which they are removed again. Pure. */
import { eachCount, numberAt } from './packed-times.js';
import { type ClassTimes, PlaceCounts } from './place-counts.js';

/** Words of a class before its times: exponent of its bound, transfers, bytes, words of times, words of posts. */
export const HEAD = { exponent: 1, transfers: 2, bytes: 4, times: 1, posts: 1 } as const;
const TRANSFERS_AT = HEAD.exponent;
const BYTES_AT = TRANSFERS_AT + HEAD.transfers;
const TIMES_AT = BYTES_AT + HEAD.bytes;
const POSTS_AT = TIMES_AT + HEAD.times;
const HEAD_WORDS = POSTS_AT + HEAD.posts;

/** Transfers between two samples. */
export interface Block {
  readonly beginMs: number;
  readonly endMs: number;
  readonly transfers: number;
  readonly bytes: number;
  readonly endedInPost: number;
  readonly flushSquares: number;
  /** The classes one after the other, each with its head. */
  readonly classes: Uint16Array;
}

/** A part of the past. */
export interface TimeWindow {
  readonly beginMs: number;
  readonly endMs: number;
  readonly transfers: number;
  readonly bytes: number;
  /** Transfers that ended inside of their post. */
  readonly endedInPost: number;
  /** Transfers in the flush of a transfer, on average. */
  readonly flushSize: number;
  /** Ascending by size. */
  readonly classes: readonly ClassTimes[];
}

interface ClassSums {
  count: number;
  bytes: number;
  readonly times: PlaceCounts;
  readonly posts: PlaceCounts;
}

export class BlockSums {
  #transfers = 0;
  #bytes = 0;
  #endedInPost = 0;
  #flushSquares = 0;
  /** By the exponent of the bound. */
  readonly #classes = new Map<number, ClassSums>();

  get transfers(): number {
    return this.#transfers;
  }

  add(block: Block): void {
    this.#change(block, 1);
  }

  /** Removes a block that was added before. */
  remove(block: Block): void {
    this.#change(block, -1);
  }

  window(beginMs: number, endMs: number): TimeWindow {
    const transfers = this.#transfers;
    return {
      beginMs,
      endMs,
      transfers,
      bytes: this.#bytes,
      endedInPost: this.#endedInPost,
      flushSize: transfers === 0 ? 0 : this.#flushSquares / transfers,
      classes: [...this.#classes].sort(([a], [b]) => a - b).map(([exponent, sums]) => classTimesOf(exponent, sums)),
    };
  }

  #change({ transfers, bytes, endedInPost, flushSquares, classes }: Block, sign: 1 | -1): void {
    this.#transfers += sign * transfers;
    this.#bytes += sign * bytes;
    this.#endedInPost += sign * endedInPost;
    this.#flushSquares += sign * flushSquares;
    for (let at = 0; at < classes.length;) at = this.#changeClass(classes, at, sign);
  }

  /** Returns where the next class begins. */
  #changeClass(words: Uint16Array, at: number, sign: 1 | -1): number {
    const exponent = words[at]!;
    let sums = this.#classes.get(exponent);
    if (sums === undefined)
      this.#classes.set(exponent, (sums = { count: 0, bytes: 0, times: new PlaceCounts(), posts: new PlaceCounts() }));
    const { times, posts } = sums;
    sums.count += sign * numberAt(words, at + TRANSFERS_AT, HEAD.transfers);
    sums.bytes += sign * numberAt(words, at + BYTES_AT, HEAD.bytes);
    const begin = at + HEAD_WORDS;
    const timesEnd = begin + words[at + TIMES_AT]!;
    const end = timesEnd + words[at + POSTS_AT]!;
    eachCount(words, begin, timesEnd, (place, count) => times.add(place, sign * count));
    eachCount(words, timesEnd, end, (place, count) => posts.add(place, sign * count));
    if (sums.count === 0) this.#classes.delete(exponent);
    return end;
  }
}

function classTimesOf(exponent: number, { bytes, count, times, posts }: ClassSums): ClassTimes {
  const [p10, p25, p50, p75, p90, max] = times.quantiles([0.1, 0.25, 0.5, 0.75, 0.9, 1]);
  const [post10, post50, postMax] = posts.quantiles([0.1, 0.5, 1]);
  return {
    upToBytes: 2 ** exponent,
    count: times.count,
    meanBytes: bytes / Math.max(1, count),
    p10: p10!,
    p25: p25!,
    p50: p50!,
    p75: p75!,
    p90: p90!,
    max: max!,
    ...(posts.count > 0 && { post: { p10: post10!, p50: post50!, max: postMax! } }),
    countUpTo: (us) => times.countUpTo(us),
  };
}
