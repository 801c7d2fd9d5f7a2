/** Size classes of a window, and of several agents together. Pure; the live page uses this module, too. */
import { exponentialCount, exponentialSince, exponentialSum } from '../../ground/exponential.js';
import type { SizeClassTally, TimesOfClass } from '../../ground/tally.js';

type SizeClasses = readonly SizeClassTally[];

/**
 * Returns the transfers that one tally counted since `before`: only classes that have some. Counts only grow: where any of
 * them fell, the tally began anew, and all of `now` came since.
 */
export function classesSince(before: SizeClasses | undefined, now: SizeClasses): SizeClasses {
  if (before === undefined) return now;
  const laterOf = classByBound(now);
  const isAnew = before.some(({ upToBytes, count, bytes }) => {
    const later = laterOf.get(upToBytes);
    return later === undefined || later.count < count || later.bytes < bytes;
  });
  if (isAnew) return now;
  const earlierOf = classByBound(before);
  return now.flatMap((later) => {
    const earlier = earlierOf.get(later.upToBytes);
    if (earlier === undefined) return [later];
    return later.count === earlier.count ? [] : [classSince(earlier, later)];
  });
}

/** Returns the transfers of all lists, ascending by size. */
export function classesSum(lists: readonly SizeClasses[]): SizeClasses {
  const classes = new Map<number, SizeClassTally[]>();
  for (const one of lists.flat()) {
    const alike = classes.get(one.upToBytes);
    if (alike === undefined) classes.set(one.upToBytes, [one]);
    else alike.push(one);
  }
  return [...classes.values()].map(classSum).sort((a, b) => a.upToBytes - b.upToBytes);
}

function classByBound(classes: SizeClasses): ReadonlyMap<number, SizeClassTally> {
  return new Map(classes.map((one) => [one.upToBytes, one]));
}

function classSince(before: SizeClassTally, now: SizeClassTally): SizeClassTally {
  return {
    upToBytes: now.upToBytes,
    count: now.count - before.count,
    bytes: now.bytes - before.bytes,
    duration: timeSince(before.duration, now.duration),
    post: timeSince(before.post, now.post),
  };
}

/** A histogram may begin anew without its class, and its sum with it: when a later process divides times otherwise. */
function timeSince(before: TimesOfClass, now: TimesOfClass): TimesOfClass {
  const exponential = exponentialSince(before.exponential, now.exponential);
  const grown = exponentialCount(now.exponential) - exponentialCount(before.exponential);
  const isAnew = now.sum < before.sum || exponentialCount(exponential) !== grown;
  return isAnew ? now : { sum: now.sum - before.sum, exponential };
}

function classSum(alike: SizeClasses): SizeClassTally {
  const first = alike[0]!;
  if (alike.length === 1) return first;
  return {
    upToBytes: first.upToBytes,
    count: alike.reduce((sum, { count }) => sum + count, 0),
    bytes: alike.reduce((sum, { bytes }) => sum + bytes, 0n),
    duration: timeSum(alike.map(({ duration }) => duration)),
    post: timeSum(alike.map(({ post }) => post)),
  };
}

export function timeSum(times: readonly TimesOfClass[]): TimesOfClass {
  return {
    sum: times.reduce((all, { sum }) => all + sum, 0n),
    exponential: exponentialSum(times.map(({ exponential }) => exponential))!,
  };
}
