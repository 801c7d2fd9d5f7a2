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
const FASTER = 1.5;
/** Blocks that each teach in full: the first ones may all be unlike each other. */
const YOUNG_BLOCKS = 3;

/** Usual times of a class, microseconds; each number is a mean of logarithms. */
export interface UsualClass {
  readonly upToBytes: number;
  readonly meanBytes: number;
  readonly p10: number;
  readonly p50: number;
  readonly p90: number;
  readonly post?: { readonly p10: number; readonly p50: number };
}

/** Kept in the state folder: numbers only. */
export interface Usual {
  /** Blocks that taught. */
  readonly blocks: number;
  readonly bytesPerSecond: number;
  readonly flushSize: number;
  readonly classes: readonly UsualClass[];
}

interface LearnedClass {
  usual: UsualClass;
  blocks: number;
}

export class UsualTimes {
  readonly #acceptMs: number;
  #blocks = 0;
  #bytesPerSecond = 0;
  #flushSize = 0;
  readonly #classes = new Map<number, LearnedClass>();

  /** `acceptMs`: time after which a changed normal is usual. */
  constructor(acceptMs: number) {
    this.#acceptMs = acceptMs;
  }

  get usual(): Usual {
    const classes = [...this.#classes.values()].map(({ usual }) => usual).sort((a, b) => a.upToBytes - b.upToBytes);
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
    const learned = this.#classes.get(upToBytes);
    if (learned === undefined || learned.blocks < YOUNG_BLOCKS) return false;
    return offBy(p10, learned.usual.p10) > OFF || offBy(p50, learned.usual.p50) > OFF;
  }

  #learnClass(one: ClassTimes, late: boolean, least: number): void {
    const learned = this.#classes.get(one.upToBytes);
    if (learned === undefined) {
      if (!late) this.#classes.set(one.upToBytes, { usual: usualOf(one), blocks: 1 });
      return;
    }
    const { usual } = learned;
    if (one.p10 * FASTER < usual.p10 && one.p50 * FASTER < usual.p50) {
      learned.usual = usualOf(one);
      learned.blocks = 1;
      return;
    }
    const slow = late || this.#isOff(one);
    if (!slow) learned.blocks++;
    learned.usual = mixed(usual, one, slow ? least : Math.max(1 / learned.blocks, least));
  }

  forget(): void {
    this.#blocks = 0;
    this.#classes.clear();
  }
}

function usualOf({ upToBytes, meanBytes, p10, p50, p90, post }: ClassTimes): UsualClass {
  return { upToBytes, meanBytes, p10, p50, p90, ...(post && { post: { p10: post.p10, p50: post.p50 } }) };
}

function mixed(usual: UsualClass, one: ClassTimes, gain: number): UsualClass {
  const post: UsualClass['post'] = usual.post ?? one.post;
  return {
    upToBytes: usual.upToBytes,
    meanBytes: mean(usual.meanBytes, one.meanBytes, gain),
    p10: mean(usual.p10, one.p10, gain),
    p50: mean(usual.p50, one.p50, gain),
    p90: mean(usual.p90, one.p90, gain),
    ...(post && {
      post: {
        p10: mean(post.p10, one.post?.p10 ?? post.p10, gain),
        p50: mean(post.p50, one.post?.p50 ?? post.p50, gain),
      },
    }),
  };
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
