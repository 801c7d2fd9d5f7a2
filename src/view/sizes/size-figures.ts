/** Numbers of each size class, as page, terminal and JSON show them. Pure; the live page uses this module, too. */
import { exponentialCount } from '../../ground/exponential.js';
import type { SizeClassTally } from '../../ground/tally.js';
import { percentilesOf } from '../figures/percentiles.js';
import { timeSum } from './class-window.js';

export interface SizeFigures {
  readonly upToBytes: number;
  readonly transfers: number;
  readonly bytes: bigint;
  readonly meanBytes: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p99Us: number;
  readonly maxUs: number;
  /** Absent without posts. */
  readonly postP50Us?: number;
  /** Transfers whose ring has the time of their post. */
  readonly postTransfers: number;
  /** Bytes per second of time in a transfer: parallel transfers do not add up. Absent if no transfer took a microsecond. */
  readonly bytesPerSecond?: number;
  /** True if the percentiles rest on fewer transfers than `FEW_TRANSFERS`. */
  readonly few: boolean;
}

/** The 95 % interval of a median spans the middle 45 % of twenty transfers, and nearly all of five. */
export const FEW_TRANSFERS = 20;

/** Returns the figures of all classes but those without times, whose histogram has begun anew. */
export function sizeFiguresOf(classes: readonly SizeClassTally[]): readonly SizeFigures[] {
  return classes.flatMap((one) => {
    const times = percentilesOf(one.duration.exponential);
    if (times === undefined) return [];
    const posts = percentilesOf(one.post.exponential);
    const meanBytes = meanBytesOf(one);
    const timed = exponentialCount(one.duration.exponential);
    return {
      upToBytes: one.upToBytes,
      transfers: one.count,
      bytes: one.bytes,
      meanBytes,
      p50Us: times.p50,
      p90Us: times.p90,
      p99Us: times.p99,
      maxUs: times.max,
      ...(posts && { postP50Us: posts.p50 }),
      postTransfers: exponentialCount(one.post.exponential),
      ...(one.duration.sum > 0n && { bytesPerSecond: (meanBytes * timed * 1e6) / Number(one.duration.sum) }),
      few: timed < FEW_TRANSFERS,
    };
  });
}

export function meanBytesOf({ bytes, count }: SizeClassTally): number {
  return Number(bytes) / count;
}

/** Time of posting, compared with that of the transfers. */
export interface Posting {
  /** Median over all classes, in microseconds. */
  readonly p50Us: number;
  /** Sum of the time of posts, divided by that of their transfers; absent if no transfer took a microsecond. */
  readonly share?: number;
}

/** Returns undefined without posts. */
export function postingOf(classes: readonly SizeClassTally[]): Posting | undefined {
  const posted = classes.filter(({ post }) => exponentialCount(post.exponential) > 0);
  if (posted.length === 0) return undefined;
  const { sum, exponential } = timeSum(posted.map(({ post }) => post));
  const duration = posted.reduce((all, one) => all + Number(one.duration.sum) * postedShareOf(one), 0);
  return { p50Us: percentilesOf(exponential)!.p50, ...(duration > 0 && { share: Number(sum) / duration }) };
}

/** Below 1 if a ring of an older wire version lacks posts of some transfers: they count as long as the others. */
function postedShareOf({ duration, post }: SizeClassTally): number {
  const timed = exponentialCount(duration.exponential);
  return timed === 0 ? 0 : Math.min(1, exponentialCount(post.exponential) / timed);
}
