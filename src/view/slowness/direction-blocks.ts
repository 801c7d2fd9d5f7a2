/** The last minutes of one agent and direction in blocks, one for each sample with transfers. Pure. */
import type { ExponentialTally } from '../../ground/exponential.js';
import type { DirectionTimes, SizeClassTally } from '../../ground/tally.js';
import { type ClassTimes, PlaceCounts, UNBOUNDED } from './place-counts.js';
import { countOf, packGrowth, placeOf } from './packed-times.js';

/** Longest window: an agent that moves six transfers a minute fills it with 90. */
export const WINDOW_LIMIT_MS = 15 * 60_000;

/** Words of a class before its times: exponent of its bound, transfers, bytes in two words, words of times, words of posts. */
const HEAD = 6;
const WORD = 2 ** 32;

/** Transfers between two samples. */
interface Block {
  readonly beginMs: number;
  readonly endMs: number;
  readonly transfers: number;
  readonly bytes: number;
  readonly endedInPost: number;
  readonly flushSquares: number;
  readonly classes: Uint32Array;
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

type DirectionCounts = Pick<DirectionTimes, 'classes' | 'endedInPost' | 'flushSquares'>;
const NOTHING: DirectionCounts = { classes: [], endedInPost: 0, flushSquares: 0n };

export class DirectionBlocks {
  #blocks: Block[] = [];
  #before: DirectionCounts | undefined;
  #takenMs = 0;

  /** `isNew`: all that was counted came since the last sample. Else the first sample is where counting begins. */
  constructor(takenMs: number, isNew: boolean) {
    this.#takenMs = takenMs;
    if (isNew) this.#before = NOTHING;
  }

  /** Takes the counts of a sample. Returns the number of transfers since the last one. */
  take(takenMs: number, now: DirectionCounts): number {
    const block = this.#before === undefined ? undefined : blockSince(this.#before, now, this.#takenMs, takenMs);
    const isSame = block !== undefined && block.transfers === 0;
    if (!isSame) this.#before = kept(now, this.#before);
    this.#takenMs = takenMs;
    if (block === undefined || isSame) return 0;
    this.#blocks.push(block);
    return block.transfers;
  }

  /** Forgets blocks that no window of at least `ms` and `transfers` needs. */
  trim(ms: number, transfers: number): void {
    this.#blocks.splice(0, this.#beginOf(ms, transfers));
  }

  forget(): void {
    this.#blocks = [];
  }

  beginAgain(takenMs: number): void {
    this.forget();
    this.#takenMs = takenMs;
  }

  /** Returns the blocks of the last `ms`, and earlier ones until they have so many transfers, at most those of 15 minutes. */
  last(ms: number, transfers: number): TimeWindow {
    return windowOf(this.#blocks.slice(this.#beginOf(ms, transfers)), this.#takenMs);
  }

  /** Returns the blocks that began at this time or later. */
  since(beginMs: number): TimeWindow {
    return windowOf(
      this.#blocks.filter((block) => block.beginMs >= beginMs),
      this.#takenMs,
    );
  }

  /** Returns the blocks one by one, the newest first. */
  *backwards(): Generator<TimeWindow> {
    for (let i = this.#blocks.length - 1; i >= 0; i--) yield windowOf([this.#blocks[i]!], this.#blocks[i]!.endMs);
  }

  #beginOf(ms: number, transfers: number): number {
    let has = 0;
    let i = this.#blocks.length;
    for (; i > 0; i--) {
      const { endMs } = this.#blocks[i - 1]!;
      const ageMs = this.#takenMs - endMs;
      if (ageMs >= WINDOW_LIMIT_MS || (ageMs >= ms && has >= transfers)) break;
      has += this.#blocks[i - 1]!.transfers;
    }
    return i;
  }
}

/** Returns undefined if the counts began anew. */
function blockSince(before: DirectionCounts, now: DirectionCounts, beginMs: number, endMs: number): Block | undefined {
  const words: number[] = [];
  let transfers = 0;
  let bytes = 0;
  let i = 0;
  for (const one of now.classes) {
    const earlier = before.classes[i]?.upToBytes === one.upToBytes ? before.classes[i++] : undefined;
    const count = one.count - (earlier?.count ?? 0);
    if (count === 0) continue;
    const classBytes = Number(one.bytes - (earlier?.bytes ?? 0n));
    const head = words.length;
    const exponent = Math.log2(Math.min(UNBOUNDED, one.upToBytes));
    words.push(exponent, count, Math.floor(classBytes / WORD), classBytes % WORD, 0, 0);
    if (count < 0 || classBytes < 0) return undefined;
    if (!packGrowth(earlier?.duration.exponential, one.duration.exponential, words)) return undefined;
    words[head + 4] = words.length - head - HEAD;
    if (!packGrowth(earlier?.post.exponential, one.post.exponential, words)) return undefined;
    words[head + 5] = words.length - head - HEAD - words[head + 4]!;
    transfers += count;
    bytes += classBytes;
  }
  // A class that is missing, or behind one that is: the counts began anew.
  if (i < before.classes.length) return undefined;
  const endedInPost = now.endedInPost - before.endedInPost;
  const flushSquares = Number(now.flushSquares - before.flushSquares);
  return { beginMs, endMs, transfers, bytes, endedInPost, flushSquares, classes: Uint32Array.from(words) };
}

/** Returns a copy, because counts of a snapshot change with the next one. A class without a transfer since is kept once. */
function kept(
  { classes, endedInPost, flushSquares }: DirectionCounts,
  before: DirectionCounts | undefined,
): DirectionCounts {
  const same = new Map(before?.classes.map((one) => [one.upToBytes, one]));
  const copies = classes.map((one) => {
    const last = same.get(one.upToBytes);
    return last?.count === one.count ? last : copyOf(one);
  });
  return { classes: copies, endedInPost, flushSquares };
}

function copyOf(one: SizeClassTally): SizeClassTally {
  const copied = (exponential: ExponentialTally): ExponentialTally => ({
    ...exponential,
    counts: Float64Array.from(exponential.counts),
  });
  return {
    ...one,
    duration: { ...one.duration, exponential: copied(one.duration.exponential) },
    post: { ...one.post, exponential: copied(one.post.exponential) },
  };
}

interface ClassSums {
  count: number;
  bytes: number;
  readonly times: PlaceCounts;
  readonly posts: PlaceCounts;
}

function windowOf(blocks: readonly Block[], endMs: number): TimeWindow {
  const classes = new Map<number, ClassSums>();
  const sums = { transfers: 0, bytes: 0, endedInPost: 0, flushSquares: 0 };
  for (const block of blocks) {
    sums.transfers += block.transfers;
    sums.bytes += block.bytes;
    sums.endedInPost += block.endedInPost;
    sums.flushSquares += block.flushSquares;
    addClasses(classes, block.classes);
  }
  const { transfers, bytes, endedInPost, flushSquares } = sums;
  const beginMs = blocks[0]?.beginMs ?? endMs;
  const flushSize = transfers === 0 ? 0 : flushSquares / transfers;
  const figures = [...classes].sort(([a], [b]) => a - b).map(([exponent, one]) => classTimesOf(exponent, one));
  return { beginMs, endMs, transfers, bytes, endedInPost, flushSize, classes: figures };
}

function addClasses(classes: Map<number, ClassSums>, words: Uint32Array): void {
  for (let at = 0; at < words.length;) {
    const exponent = words[at]!;
    let sums = classes.get(exponent);
    if (sums === undefined)
      classes.set(exponent, (sums = { count: 0, bytes: 0, times: new PlaceCounts(), posts: new PlaceCounts() }));
    sums.count += words[at + 1]!;
    sums.bytes += words[at + 2]! * WORD + words[at + 3]!;
    const timesEnd = at + HEAD + words[at + 4]!;
    const end = timesEnd + words[at + 5]!;
    for (let i = at + HEAD; i < timesEnd; i++) sums.times.add(placeOf(words[i]!), countOf(words[i]!));
    for (let i = timesEnd; i < end; i++) sums.posts.add(placeOf(words[i]!), countOf(words[i]!));
    at = end;
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
