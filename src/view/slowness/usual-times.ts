/** What is usual for the transfers of one agent and direction: learned from blocks of time, never from what is found slow. Pure. */
import type { ClassTimes } from './place-counts.js';
import type { TimeWindow } from './block-sums.js';

/** A block that teaches has at least so many milliseconds and transfers: fewer give no quantiles. */
export const BLOCK_MS = 30_000;
export const BLOCK_TRANSFERS = 20;
/** Fewer transfers of a class give no quantiles of it. */
export const CLASS_TRANSFERS = 5;
/** A block whose times are off by more than this may mix a fault with the time before it: it teaches as little as one of a day. */
const OFF = 1.3;
/** Times of a whole block that are this much shorter in both quantiles cannot come from a fault. A few are shorter by chance. */
const FASTER = 1.5;

/** Until a class has been learned from so many transfers, each block teaches in full: the first few may all be fast by chance. */
const YOUNG_TRANSFERS = 60;

/** The same of posts: they are learned by themselves, because a late program does not post late. */
export interface UsualPost {
  readonly blocks: number;
  readonly p10: number;
  readonly p50: number;
}

/** Usual times of a class, microseconds; each number is a mean of logarithms. */
export interface UsualClass {
  readonly upToBytes: number;
  /** Blocks that taught it in full, and their transfers. */
  readonly blocks: number;
  readonly transfers: number;
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
  #usual: Usual;

  /** `acceptMs`: time after which a changed normal is usual. `before`: what is known already. */
  constructor(acceptMs: number, before: Usual = NOTHING_USUAL) {
    this.#acceptMs = acceptMs;
    this.#usual = before;
  }

  get usual(): Usual {
    return this.#usual;
  }

  /** `late`: the program asks late in this block. A class must not be learned from it for the first time. */
  learn(block: TimeWindow, late: boolean): void {
    const { blocks, bytesPerSecond, flushSize, classes } = this.#usual;
    const least = Math.min(1, BLOCK_MS / this.#acceptMs);
    const known = new Map(classes.map((one) => [one.upToBytes, one]));
    const told = block.classes.filter(({ count }) => count >= CLASS_TRANSFERS);
    const isOff = told.some((one) => isOffFrom(known.get(one.upToBytes), one));
    const seconds = Math.max(1, block.endMs - block.beginMs) / 1000;
    const gain = late || isOff ? least : Math.max(1 / (blocks + 1), least);
    for (const one of told) {
      const usual = learned(known.get(one.upToBytes), one, late, least);
      if (usual !== undefined) known.set(one.upToBytes, usual);
    }
    this.#usual = {
      blocks: blocks + 1,
      bytesPerSecond: mean(bytesPerSecond, block.bytes / seconds, gain),
      flushSize: mean(flushSize, block.flushSize, gain),
      classes: [...known.values()].sort((a, b) => a.upToBytes - b.upToBytes),
    };
  }
}

const NOTHING_USUAL: Usual = { blocks: 0, bytesPerSecond: 0, flushSize: 0, classes: [] };

function isOffFrom(usual: UsualClass | undefined, { p10, p50 }: ClassTimes): boolean {
  if (usual === undefined || isYoung(usual)) return false;
  return offBy(p10, usual.p10) > OFF || offBy(p50, usual.p50) > OFF;
}

function isYoung({ transfers }: UsualClass): boolean {
  return transfers < YOUNG_TRANSFERS;
}

function learned(usual: UsualClass | undefined, one: ClassTimes, late: boolean, least: number): UsualClass | undefined {
  if (usual === undefined) return late ? undefined : usualOf(one);
  const isFaster = one.count >= BLOCK_TRANSFERS && one.p10 * FASTER < usual.p10 && one.p50 * FASTER < usual.p50;
  return isFaster ? usualOf(one) : mixed(usual, one, late || isOffFrom(usual, one), least);
}

function usualOf({ upToBytes, count, meanBytes, p10, p50, p90, post }: ClassTimes): UsualClass {
  return { upToBytes, blocks: 1, transfers: count, meanBytes, p10, p50, p90, ...(post && { post: usualPostOf(post) }) };
}

function mixed(usual: UsualClass, one: ClassTimes, isSlow: boolean, least: number): UsualClass {
  const blocks = isSlow ? usual.blocks : usual.blocks + 1;
  const gain = isSlow ? least : Math.max(1 / blocks, least);
  const post = mixedPost(usual, one.post, least);
  return {
    upToBytes: usual.upToBytes,
    blocks,
    transfers: usual.transfers + (isSlow ? 0 : one.count),
    meanBytes: mean(usual.meanBytes, one.meanBytes, gain),
    p10: mean(usual.p10, one.p10, gain),
    p50: mean(usual.p50, one.p50, gain),
    p90: mean(usual.p90, one.p90, gain),
    ...(post && { post }),
  };
}

function mixedPost(of: UsualClass, one: ClassTimes['post'], least: number): UsualPost | undefined {
  const { post: usual } = of;
  if (usual === undefined || one === undefined) return usual ?? (one && usualPostOf(one));
  const isOff = !isYoung(of) && offBy(one.p50, usual.p50) > OFF;
  const blocks = isOff ? usual.blocks : usual.blocks + 1;
  const gain = isOff ? least : Math.max(1 / blocks, least);
  return { blocks, p10: mean(usual.p10, one.p10, gain), p50: mean(usual.p50, one.p50, gain) };
}

function usualPostOf({ p10, p50 }: NonNullable<ClassTimes['post']>): UsualPost {
  return { blocks: 1, p10, p50 };
}

/** Mean of logarithms: times spread by factors. Times below a microsecond are between 0 and 1. */
function mean(a: number, b: number, gain: number): number {
  if (!(a > 0)) return b;
  return a * (Math.max(0.5, b) / a) ** gain;
}

function offBy(a: number, b: number): number {
  const ratio = Math.max(0.5, a) / Math.max(0.5, b);
  return Math.max(ratio, 1 / ratio);
}
