/** The last minutes of one agent and direction in blocks, one for each sample with transfers. Pure. */
import type { ExponentialTally } from '../../ground/exponential.js';
import type { DirectionTimes, SizeClassTally } from '../../ground/tally.js';
import { type Block, BlockSums, HEAD, type TimeWindow } from './block-sums.js';
import { packGrowth, pushNumber } from './packed-times.js';
import { UNBOUNDED } from './place-counts.js';

/** Longest window: an agent that moves six transfers a minute fills it with 90. */
export const WINDOW_LIMIT_MS = 15 * 60_000;

/** What a window has at least. */
export interface WindowSpan {
  readonly ms: number;
  /** Blocks before the span belong to it until it has so many transfers, at most those of 15 minutes. */
  readonly transfers: number;
}

/** The blocks from `begin` on. */
interface SlidingWindow {
  begin: number;
  sums: BlockSums;
}

type DirectionCounts = Pick<DirectionTimes, 'classes' | 'endedInPost' | 'flushSquares'>;
const NOTHING: DirectionCounts = { classes: [], endedInPost: 0, flushSquares: 0n };

export class DirectionBlocks {
  #blocks: Block[] = [];
  /** Those of all spans, each with its sums: adding them up for each judgement took most of its time. */
  readonly #windows: ReadonlyMap<WindowSpan, SlidingWindow>;
  #before: DirectionCounts | undefined;
  #takenMs = 0;

  /** `isNew`: all that was counted came since the last sample. Else the first sample is where counting begins. */
  constructor(takenMs: number, isNew: boolean, spans: readonly WindowSpan[]) {
    this.#takenMs = takenMs;
    if (isNew) this.#before = NOTHING;
    this.#windows = new Map(spans.map((span) => [span, { begin: 0, sums: new BlockSums() }]));
  }

  /** Takes the counts of a sample. Returns the number of transfers since the last one. */
  take(takenMs: number, now: DirectionCounts): number {
    const block = this.#before === undefined ? undefined : blockSince(this.#before, now, this.#takenMs, takenMs);
    const isSame = block !== undefined && block.transfers === 0;
    if (!isSame) this.#before = kept(now, this.#before);
    this.#takenMs = takenMs;
    if (block === undefined || isSame) return 0;
    this.#blocks.push(block);
    for (const { sums } of this.#windows.values()) sums.add(block);
    return block.transfers;
  }

  /** Forgets blocks that are in no window. */
  trim(): void {
    const windows = [...this.#windows.keys()].map((span) => this.#upToDate(span));
    const unused = Math.min(...windows.map(({ begin }) => begin));
    this.#blocks.splice(0, unused);
    for (const window of windows) window.begin -= unused;
  }

  forget(): void {
    this.#blocks = [];
    for (const window of this.#windows.values()) {
      window.begin = 0;
      window.sums = new BlockSums();
    }
  }

  beginAgain(takenMs: number): void {
    this.forget();
    this.#takenMs = takenMs;
  }

  /** Returns the window of one of the spans. It changes with the next sample. */
  last(span: WindowSpan): TimeWindow {
    const { begin, sums } = this.#upToDate(span);
    return sums.window(this.#blocks[begin]?.beginMs ?? this.#takenMs, this.#takenMs);
  }

  /** Removes the blocks that the span has left behind. */
  #upToDate(span: WindowSpan): SlidingWindow {
    const window = this.#windows.get(span)!;
    for (; window.begin < this.#blocks.length; window.begin++) {
      const first = this.#blocks[window.begin]!;
      const ageMs = this.#takenMs - first.endMs;
      const isOld = ageMs >= span.ms && window.sums.transfers - first.transfers >= span.transfers;
      if (ageMs < WINDOW_LIMIT_MS && !isOld) break;
      window.sums.remove(first);
    }
    return window;
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
    if (count < 0 || classBytes < 0) return undefined;
    const times: number[] = [];
    const posts: number[] = [];
    if (!packGrowth(earlier?.duration.exponential, one.duration.exponential, times)) return undefined;
    if (!packGrowth(earlier?.post.exponential, one.post.exponential, posts)) return undefined;
    pushNumber(Math.log2(Math.min(UNBOUNDED, one.upToBytes)), HEAD.exponent, words);
    pushNumber(count, HEAD.transfers, words);
    pushNumber(classBytes, HEAD.bytes, words);
    pushNumber(times.length, HEAD.times, words);
    pushNumber(posts.length, HEAD.posts, words);
    words.push(...times, ...posts);
    transfers += count;
    bytes += classBytes;
  }
  // A class that is missing, or behind one that is: the counts began anew.
  if (i < before.classes.length) return undefined;
  const endedInPost = now.endedInPost - before.endedInPost;
  const flushSquares = Number(now.flushSquares - before.flushSquares);
  return { beginMs, endMs, transfers, bytes, endedInPost, flushSquares, classes: Uint16Array.from(words) };
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

function windowOf(blocks: readonly Block[], endMs: number): TimeWindow {
  const sums = new BlockSums();
  for (const block of blocks) sums.add(block);
  return sums.window(blocks[0]?.beginMs ?? endMs, endMs);
}
