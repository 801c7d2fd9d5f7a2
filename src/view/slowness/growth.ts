/** Which classes of a window are slower than usual for a reason of their own, and not because the program asks late. Pure. */
import type { ClassTimes } from './place-counts.js';
import { CLASS_TRANSFERS, type UsualClass } from './usual-times.js';

/** How sure a window must be. */
export interface Strictness {
  /** Factor of the time of transfers. */
  readonly transfers: number;
  /** Factor of the time of posts. */
  readonly posts: number;
}
/** Of 20 seconds or 20 transfers: chance alone moves the median of twenty by a factor of 2 where times spread by 3. */
export const SHORT: Strictness = { transfers: 4, posts: 4 };
/** Of two minutes or 60 transfers: a factor of 2, less the 15 % by which a slow transfer's fixed part dilutes it. */
export const LONG: Strictness = { transfers: 1.7, posts: 2.5 };

/** A lower part of a class's growth that only a slower transfer of the bytes explains. */
const OVER_SHARED = 1.5;
/** Where the slowest tenth takes this much longer than the fastest, steps of the program's loop hide the link. */
const TAILED = 4;
/** Transfers of such classes that must show it, and the part of them that may be as fast as usual. */
const TAIL_TRANSFERS = 60;
const TAIL_SHARE = 0.02;
/** Where the slowest tenth takes at most this much longer, the program asks at once. */
const PROMPT = 1.6;
/** A class grows up to twice within its bounds. */
const MOST_BYTES = 2;
/** A much smaller transfer that usually takes as long waits behind larger ones: it tells nothing else. */
const BEHIND_BYTES = 64;
const BEHIND_TIME = 0.5;

/** A class beside what is usual for it. All times have the growth of posts taken off, and the usual ones are those of its bytes. */
export interface Compared {
  readonly now: ClassTimes;
  readonly usual: UsualClass;
  readonly count: number;
  readonly p10: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  /** How much longer posting takes, microseconds. */
  readonly postGrowth: number;
  readonly usualP10: number;
  readonly usualP50: number;
  readonly usualPost: number;
}

export interface Suspect {
  readonly compared: Compared;
  /** How many times as long. */
  readonly factor: number;
  /** True if the same times could come from asking late. */
  readonly ambiguous: boolean;
}

/** Returns the classes that have enough transfers and a reference. `inPost`: transfers end inside their post, so that both are one. */
export function compare(classes: readonly ClassTimes[], usual: readonly UsualClass[], inPost: boolean): Compared[] {
  return classes.flatMap((now) => {
    const reference = usual.find(({ upToBytes }) => upToBytes === now.upToBytes);
    if (reference === undefined || now.count < CLASS_TRANSFERS) return [];
    const grown = Math.min(MOST_BYTES, Math.max(1, now.meanBytes / Math.max(1, reference.meanBytes)));
    const usualPost = (reference.post?.p50 ?? 0) * grown;
    const postGrowth = inPost || reference.post === undefined ? 0 : Math.max(0, (now.post?.p50 ?? 0) - usualPost);
    const less = (us: number): number => Math.max(0, us - postGrowth);
    return {
      now,
      usual: reference,
      count: now.count,
      p10: less(now.p10),
      p25: less(now.p25),
      p50: less(now.p50),
      p75: less(now.p75),
      postGrowth,
      usualP10: Math.max(1, reference.p10 * grown),
      usualP50: Math.max(1, reference.p50 * grown),
      usualPost,
    };
  });
}

export function isTailed({ usual }: Compared): boolean {
  return usual.p90 >= TAILED * Math.max(1, usual.p10);
}

function isPrompt({ usual }: Compared): boolean {
  return usual.p90 <= PROMPT * Math.max(1, usual.p10);
}

export function suspectsOf(all: readonly Compared[], strictness: Strictness): Suspect[] {
  const theta = strictness.transfers;
  const tailed = all.filter(isTailed);
  const told = all.filter((one) => !isBehind(one, all));
  const others = all.filter((one) => !isTailed(one) && !isMostlyPost(one));
  const plain = others.flatMap((one): Suspect[] => {
    const rest = told.filter((other) => other !== one);
    if (rest.length === 0 || (told.length === 1 && isBehind(one, all))) {
      const factor = one.p50 / one.usualP50;
      return factor >= theta && isPrompt(one) ? [{ compared: one, factor, ambiguous: true }] : [];
    }
    const shared = sharedGrowth(rest);
    const factor = (one.p50 - shared) / one.usualP50;
    const isOwn = factor >= theta && one.p25 - one.usualP50 >= OVER_SHARED * shared;
    return isOwn ? [{ compared: one, factor, ambiguous: false }] : [];
  });
  return [...plain, ...tailSuspects(tailed, told, theta)];
}

/** Returns the growth that at least three quarters of the transfers of the other classes have: the program asks late. */
function sharedGrowth(others: readonly Compared[]): number {
  return lowerQuarter(others.map(({ count, p75, usualP50 }) => ({ count, growth: Math.max(0, p75 - usualP50) })));
}

function lowerQuarter(growths: readonly { readonly count: number; readonly growth: number }[]): number {
  const ascending = [...growths].sort((a, b) => a.growth - b.growth);
  let left = ascending.reduce((sum, { count }) => sum + count, 0) / 4;
  return ascending.find(({ count }) => (left -= count) <= 0)!.growth;
}

/** Steps of the program's loop hide the link in all quantiles but the fast ones: those are gone if the link is slow. */
function tailSuspects(tailed: readonly Compared[], told: readonly Compared[], theta: number): Suspect[] {
  const transfers = tailed.reduce((sum, { count }) => sum + count, 0);
  if (transfers < TAIL_TRANSFERS) return [];
  const fast = tailed.reduce((sum, { now, usualP10, postGrowth }) => {
    return sum + now.countUpTo(usualP10 * Math.max(1.5, theta / 2) + postGrowth);
  }, 0);
  if (fast > TAIL_SHARE * transfers) return [];
  return tailed.flatMap((compared) => {
    const growths = told.flatMap((other) =>
      other === compared ? [] : { count: other.count, growth: Math.max(0, other.p10 - other.usualP10) },
    );
    const shared = growths.length === 0 ? 0 : lowerQuarter(growths);
    const factor = (compared.p10 - shared) / compared.usualP10;
    const isOwn = factor >= theta && compared.p10 - compared.usualP10 >= OVER_SHARED * shared;
    return isOwn && !isMostlyPost(compared) ? [{ compared, factor, ambiguous: false }] : [];
  });
}

/** Its growth is that of its posts: at least half of it. */
export function isMostlyPost({ now, usualP50, postGrowth }: Compared): boolean {
  return postGrowth > 0 && postGrowth >= (now.p50 - usualP50) / 2;
}

function isBehind(one: Compared, all: readonly Compared[]): boolean {
  return all.some(
    (larger) =>
      larger.now.meanBytes >= BEHIND_BYTES * one.now.meanBytes &&
      one.usualP50 >= BEHIND_TIME * larger.usualP50 &&
      isPrompt(one) &&
      isPrompt(larger),
  );
}
