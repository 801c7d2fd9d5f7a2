/** What is usual for the transfers of one agent and direction: learned from blocks of time, never from what is found slow. Pure. */
import type { ClassTimes } from './place-counts.js';
import type { TimeWindow } from './direction-blocks.js';

/** A block that teaches has at least so many milliseconds and transfers: fewer give no quantiles. */
export const BLOCK_MS = 30_000;
export const BLOCK_TRANSFERS = 20;
/** Fewer transfers of a class give no quantiles of it. */
export const CLASS_TRANSFERS = 5;
/** A block whose times are off by more than this may mix a fault with the time before it: it teaches as little as one of a day. */
const OFF = 1.3;
/** PlaceCounts that are this much shorter in both quantiles cannot come from a fault. */
const FASTER = 1.5; // of a whole block of the class: a few transfers are faster by chance
/** Blocks that each teach in full: the first ones may all be unlike each other. */
const YOUNG_BLOCKS = 1;

/** The same of posts: they are learned by themselves, because a late program does not post late. */
export interface UsualPost {
  readonly blocks: number;
  readonly p10: number;
  readonly p50: number;
}

/** Usual times of a class, microseconds; each number is a mean of logarithms. */
export interface UsualClass {
  readonly upToBytes: number;
  /** Blocks that taught it in full. */
  readonly blocks: number;
  readonly meanBytes: number;
  readonly p10: number;
  readonly p50: number;
  readonly p90: number;
  readonly post?: UsualPost;
}

export interface Usual {
  /** Blocks that taught. */
  readonly blocks: number;
  readonly bytesPerSecond: number;
  readonly flushSize: number;
  readonly classes: readonly UsualClass[];
}

export class UsualTimes {
  readonly #acceptMs: number;
  #blocks: number;
  #bytesPerSecond: number;
  #flushSize: number;
  readonly #classes: Map<number, UsualClass>;

  /** `acceptMs`: time after which a changed normal is usual. `before`: what is known already. */
  constructor(acceptMs: number, before: Usual = NOTHING_USUAL) {
    this.#acceptMs = acceptMs;
    this.#blocks = before.blocks;
    this.#bytesPerSecond = before.bytesPerSecond;
    this.#flushSize = before.flushSize;
    this.#classes = new Map(before.classes.map((one) => [one.upToBytes, one]));
  }

  get usual(): Usual {
    const classes = [...this.#classes.values()].sort((a, b) => a.upToBytes - b.upToBytes);
    return { blocks: this.#blocks, bytesPerSecond: this.#bytesPerSecond, flushSize: this.#flushSize, classes };
  }

  /** `late`: the program asks late in this block. A class must not be learned from it for the first time. */
  learn(block: TimeWindow, late: boolean): void {
    const least = Math.min(1, BLOCK_MS / this.#acceptMs);
    const told = block.classes.filter(({ count }) => count >= CLASS_TRANSFERS);
    const isOff = told.some((one) => this.#isOff(one));
    const seconds = Math.max(1, block.endMs - block.beginMs) / 1000;
    const gain = late || isOff ? least : Math.max(1 / (this.#blocks + 1), least);
    this.#blocks++;
    this.#bytesPerSecond = mean(this.#bytesPerSecond, block.bytes / seconds, gain);
    this.#flushSize = mean(this.#flushSize, block.flushSize, gain);
    for (const one of told) this.#learnClass(one, late, least);
  }

  #isOff({ upToBytes, p10, p50 }: ClassTimes): boolean {
    const usual = this.#classes.get(upToBytes);
    if (usual === undefined || usual.blocks < YOUNG_BLOCKS) return false;
    return offBy(p10, usual.p10) > OFF || offBy(p50, usual.p50) > OFF;
  }

  #learnClass(one: ClassTimes, late: boolean, least: number): void {
    const usual = this.#classes.get(one.upToBytes);
    if (usual === undefined && late) return;
    const isFaster =
      usual !== undefined &&
      one.count >= BLOCK_TRANSFERS &&
      one.p10 * FASTER < usual.p10 &&
      one.p50 * FASTER < usual.p50;
    const isSlow = late || this.#isOff(one);
    this.#classes.set(one.upToBytes, usual === undefined || isFaster ? usualOf(one) : mixed(usual, one, isSlow, least));
  }
}

const NOTHING_USUAL: Usual = { blocks: 0, bytesPerSecond: 0, flushSize: 0, classes: [] };

function usualOf({ upToBytes, meanBytes, p10, p50, p90, post }: ClassTimes): UsualClass {
  return { upToBytes, blocks: 1, meanBytes, p10, p50, p90, ...(post && { post: usualPostOf(post) }) };
}

function mixed(usual: UsualClass, one: ClassTimes, isSlow: boolean, least: number): UsualClass {
  const blocks = isSlow ? usual.blocks : usual.blocks + 1;
  const gain = isSlow ? least : Math.max(1 / blocks, least);
  const post = mixedPost(usual.post, one.post, least);
  return {
    upToBytes: usual.upToBytes,
    blocks,
    meanBytes: mean(usual.meanBytes, one.meanBytes, gain),
    p10: mean(usual.p10, one.p10, gain),
    p50: mean(usual.p50, one.p50, gain),
    p90: mean(usual.p90, one.p90, gain),
    ...(post && { post }),
  };
}

function mixedPost(usual: UsualPost | undefined, one: ClassTimes['post'], least: number): UsualPost | undefined {
  if (usual === undefined || one === undefined) return usual ?? (one && usualPostOf(one));
  const isOff = usual.blocks >= YOUNG_BLOCKS && offBy(one.p50, usual.p50) > OFF;
  const blocks = isOff ? usual.blocks : usual.blocks + 1;
  const gain = isOff ? least : Math.max(1 / blocks, least);
  return { blocks, p10: mean(usual.p10, one.p10, gain), p50: mean(usual.p50, one.p50, gain) };
}

function usualPostOf({ p10, p50 }: NonNullable<ClassTimes['post']>): UsualPost {
  return { blocks: 1, p10, p50 };
}

/** Mean of logarithms: times spread by factors. PlaceCounts below a microsecond are between 0 and 1. */
function mean(a: number, b: number, gain: number): number {
  if (!(a > 0)) return b;
  return a * (Math.max(0.5, b) / a) ** gain;
}

function offBy(a: number, b: number): number {
  const ratio = Math.max(0.5, a) / Math.max(0.5, b);
  return Math.max(ratio, 1 / ratio);
}
