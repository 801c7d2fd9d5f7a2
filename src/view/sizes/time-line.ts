/**
 * Model of the time of transfers: base time and the rate that large transfers approach, or why the size classes show none. Pure; the
 * live page uses this module, too.
 */
import { exponentialCount } from '../../ground/exponential.js';
import type { SizeClassTally } from '../../ground/tally.js';
import { type ClassMedian, classMedianOf } from './class-median.js';
import { fitCost, fitErrors, type FittedLine, fitLine, sideOf } from './fitted-line.js';
import { FEW_TRANSFERS } from './size-figures.js';

/** `few-classes`: fewer than three with enough transfers; `narrow`: their sizes differ by less than 16; `scattered`: no line fits. */
export type NoLineReason = 'few-classes' | 'narrow' | 'scattered';

/** time = base + bytes / rate, for the times that the application saw. */
export interface TimeLine {
  readonly kind: 'line';
  /** Absent if even the smallest class spends hardly any of its time on it. */
  readonly baseUs?: number;
  /** Absent if times hardly grow with bytes. */
  readonly bytesPerSecond?: number;
  /** Classes that it rests on. */
  readonly classes: number;
  /** Bounds of classes that are slower than the line, between others that are on it. */
  readonly outlying: readonly number[];
  /** Both parts as they were fitted, to draw the line. */
  readonly fitted: FittedLine;
}

/** `atBytes`: bound of the first class of the upper line; null, as JSON has it, for the class without a bound. */
export type TimeModel =
  | TimeLine
  | { readonly kind: 'bends'; readonly atBytes: number | null }
  | { readonly kind: 'none'; readonly reason: NoLineReason };

/** Any two medians lie on a line. */
const LEAST_CLASSES = 3;
/** A bend needs room to show: any three neighbouring classes are nearly on one line. */
const LEAST_RANGE = 16;
/** Of four classes with one off, three are left, so that the line rests on `LEAST_CLASSES`. */
const MOST_OUTLYING = 1 / 4;
/** Relative standard error up to which a part of the line is known. A part that takes less than a third of each class's time exceeds it. */
const MOST_ERROR = 0.15;

/**
 * Two bends that differ by less in cost differ by chance: two standard errors of one class. Of these the last counts, up to
 * which the lower line holds.
 */
const CHANCE_COST = 4;

/** Classes of one agent and direction in a window of time: a total would mix before and after a change. */
export function timeLineOf(classes: readonly SizeClassTally[]): TimeModel {
  const enough = classes.filter(({ duration }) => exponentialCount(duration.exponential) >= FEW_TRANSFERS);
  return timeLineThrough(enough.map(classMedianOf));
}

/** `medians`: ascending by size. */
export function timeLineThrough(medians: readonly ClassMedian[]): TimeModel {
  if (medians.length < LEAST_CLASSES) return { kind: 'none', reason: 'few-classes' };
  if (medians.at(-1)!.meanBytes / medians[0]!.meanBytes < LEAST_RANGE) return { kind: 'none', reason: 'narrow' };
  const line = fitLine(medians);
  const outlying = medians.filter((median) => sideOf(line, median) !== 'on');
  const areFew = outlying.length <= medians.length * MOST_OUTLYING;
  if (areFew && outlying.every((median) => isDisturbed(line, median, medians))) return modelOf(line, medians, outlying);
  const bend = bendOf(medians);
  return bend === undefined
    ? { kind: 'none', reason: 'scattered' }
    : { kind: 'bends', atBytes: bend.upToBytes === Infinity ? null : bend.upToBytes };
}

/**
 * Returns true for a class that may be off the line, which holds for others. Disturbances make transfers slower, never faster, and
 * a class at an end would show a bend.
 */
function isDisturbed(line: FittedLine, median: ClassMedian, medians: readonly ClassMedian[]): boolean {
  return sideOf(line, median) === 'slower' && median !== medians[0] && median !== medians.at(-1);
}

function modelOf(line: FittedLine, medians: readonly ClassMedian[], outlying: readonly ClassMedian[]): TimeModel {
  const errors = fitErrors(
    line,
    medians.filter((median) => !outlying.includes(median)),
  );
  const isBaseKnown = errors.base <= MOST_ERROR;
  const isRateKnown = errors.perByte <= MOST_ERROR;
  if (!isBaseKnown && !isRateKnown) return { kind: 'none', reason: 'scattered' };
  return {
    kind: 'line',
    ...(isBaseKnown && { baseUs: line.baseUs }),
    ...(isRateKnown && { bytesPerSecond: 1e6 / line.usPerByte }),
    classes: medians.length - outlying.length,
    outlying: outlying.map(({ upToBytes }) => upToBytes),
    fitted: line,
  };
}

/** Returns the first class of the upper of two lines which have all classes on them; undefined if no two have. */
function bendOf(medians: readonly ClassMedian[]): ClassMedian | undefined {
  const upper = medians.slice(1);
  const costs = upper.map((_, i) => costOfLine(medians.slice(0, i + 1)) + costOfLine(medians.slice(i + 1)));
  const least = Math.min(...costs);
  return least === Infinity ? undefined : upper[costs.findLastIndex((cost) => cost <= least + CHANCE_COST)];
}

/** Returns Infinity if a class is off the line. */
function costOfLine(medians: readonly ClassMedian[]): number {
  const line = fitLine(medians);
  return medians.every((median) => sideOf(line, median) === 'on') ? fitCost(line, medians) : Infinity;
}
