/** Judges one window of an agent and direction by what is usual. Pure. */
import type { TimeWindow } from './block-sums.js';
import {
  compare,
  type Compared,
  isMostlyPost,
  isTailed,
  LONG,
  type Strictness,
  type Suspect,
  suspectsOf,
} from './growth.js';
import { isBusy, type Peer } from './load.js';
import type { Usual } from './usual-times.js';
import type { SlowKind } from './slow-facts.js';

/** Suspect transfers: fewer can be slow by chance. */
const SUSPECTS = 12;
/** Posts, and the time by which they must be longer: below, a context switch would do. */
const POSTS = 20;
const POST_GROWTH_US = 5;
/** All sizes are late by this factor. */
const LATE = 3;
/** Part of the transfers that ended inside their post, from which on post and transfer are one. */
const IN_POST = 0.9;

export interface Judged {
  readonly kind: SlowKind;
  readonly factor: number;
  readonly classes: readonly Compared[];
  /** All classes of the window that have a reference. */
  readonly compared: readonly Compared[];
  readonly ambiguous: boolean;
}

interface Circumstances {
  /** That of the window. */
  readonly strictness: Strictness;
  /** Returns the other agents of the host and direction. */
  readonly peers: () => readonly Peer[];
}

export function judgeWindow(window: TimeWindow, usual: Usual, circumstances: Circumstances): Judged[] {
  const compared = comparedIn(window, usual);
  return judgeClasses(compared, window, usual, circumstances).map((judged) => ({ ...judged, compared }));
}

type JudgedClasses = Omit<Judged, 'compared'>;

function judgeClasses(
  compared: readonly Compared[],
  window: TimeWindow,
  usual: Usual,
  { strictness, peers }: Circumstances,
): JudgedClasses[] {
  const posts = slowPostsOf(compared, strictness.posts);
  const suspects = suspectsOf(compared, strictness);
  const classes = suspects.map(({ compared: one }) => one);
  if (transfersOf(classes) < SUSPECTS) return [...foundPosts(posts), ...lateOf(compared, suspects, strictness)];
  const factor = medianFactor(suspects);
  // Where the rest of a slow transfer grew by more than its post, that is what to look at.
  const found = foundPosts(posts.filter(isMostlyPost));
  const kind = isBusy(window, usual, peers, { factor, theta: strictness.transfers }) ? 'busy' : 'slow-transfers';
  return [...found, { kind, factor, classes, ambiguous: suspects.every(({ ambiguous }) => ambiguous) }];
}

export function comparedIn(window: TimeWindow, usual: Usual): Compared[] {
  return compare(window.classes, usual.classes, window.endedInPost >= IN_POST * window.transfers);
}

/** Returns how many times as long the median transfer takes, without the growth of its post; undefined without any to compare. */
export function growthFactor(compared: readonly Compared[]): number | undefined {
  if (compared.length === 0) return undefined;
  return weightedMedian(compared.map(({ p50, usualP50, count }) => ({ value: p50 / usualP50, count })));
}

/** The same of their posts; undefined without posts to compare. */
export function postGrowthFactor(compared: readonly Compared[]): number | undefined {
  const posted = compared.filter(({ now, usual }) => now.post !== undefined && usual.post !== undefined);
  return posted.length === 0 ? undefined : weightedMedian(posted.map(postFactor));
}

function postFactor({ now, usualPost, count }: Compared): { value: number; count: number } {
  return { value: now.post!.p50 / Math.max(1, usualPost), count };
}

function slowPostsOf(compared: readonly Compared[], factor: number): readonly Compared[] {
  return compared.filter(({ now, usualPost, postGrowth }) => {
    return postGrowth >= POST_GROWTH_US && now.post!.p50 >= factor * Math.max(1, usualPost);
  });
}

function foundPosts(classes: readonly Compared[]): JudgedClasses[] {
  return transfersOf(classes) >= POSTS ? [judgedPosts(classes)] : [];
}

function judgedPosts(classes: readonly Compared[]): JudgedClasses {
  const factors = classes.map(({ now, usualPost, count }) => ({
    value: now.post!.p50 / Math.max(1, usualPost),
    count,
  }));
  return { kind: 'slow-posts', factor: weightedMedian(factors), classes, ambiguous: false };
}

function lateOf(compared: readonly Compared[], suspects: readonly Suspect[], strictness: Strictness): JudgedClasses[] {
  if (suspects.length > 0) return [];
  const told = compared.filter((one) => strictness === LONG || !isTailed(one));
  const late = told.filter(({ p50, usualP50 }) => p50 >= LATE * usualP50);
  if (2 * transfersOf(late) < transfersOf(told) || transfersOf(late) < SUSPECTS) return [];
  return [{ kind: 'late-completion', factor: growthFactor(late)!, classes: late, ambiguous: false }];
}

function transfersOf(classes: readonly Compared[]): number {
  return classes.reduce((sum, { count }) => sum + count, 0);
}

function medianFactor(suspects: readonly Suspect[]): number {
  return weightedMedian(suspects.map(({ factor, compared: { count } }) => ({ value: factor, count })));
}

function weightedMedian(values: readonly { readonly value: number; readonly count: number }[]): number {
  const ascending = [...values].sort((a, b) => a.value - b.value);
  let left = ascending.reduce((sum, { count }) => sum + count, 0) / 2;
  return ascending.find(({ count }) => (left -= count) <= 0)!.value;
}
