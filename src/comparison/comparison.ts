/** Compares the transfers of two sides, of one or several runs each, by direction and size class. Pure. */
import { exponentialCount, highestValue } from '../ground/exponential.js';
import type { RunSlice, SliceClass } from './run-slices.js';
import { boundOf, type JsonBound } from '../view/sizes/direction-sizes.js';
import { FEW_TRANSFERS } from '../view/sizes/size-figures.js';
import { sureFactor } from './chance.js';
import { quantileFigure, rateFigure, type RunFigure } from './run-figure.js';
import { type Multiple, multipleOf } from './side-figure.js';

export interface ComparedRun {
  /** Milliseconds since the epoch. */
  readonly beginMs: number;
  readonly slices: readonly RunSlice[];
}

type SliceDirection = Exclude<keyof RunSlice, 'endMs'>;
const DIRECTIONS: readonly SliceDirection[] = ['tx', 'rx'];

/** Means of a side: of several runs, all count alike. */
export interface SideFigures {
  readonly transfers: number;
  readonly meanBytes: number;
  readonly p50Us: number;
  /** Bytes per second of time in a transfer. Absent if no transfer took a microsecond. */
  readonly bytesPerSecond?: number;
}

/** `few`: no interval; `missing`: one side has no such transfers. */
export type ComparisonVerdict = 'slower' | 'faster' | 'alike' | 'few' | 'missing';

export interface ClassComparison {
  readonly direction: SliceDirection;
  readonly upToBytes: JsonBound;
  readonly a?: SideFigures;
  readonly b?: SideFigures;
  /** Median time of b, divided by that of a. The interval is that of transfers of the same bytes. */
  readonly p50?: Multiple;
  /** The same of the time that a quarter of the transfers stays below: noise makes transfers longer, and leaves the fast ones. */
  readonly p25?: Multiple;
  /** Rate of b, divided by that of a. Rare long transfers decide over rates: they have no verdict. */
  readonly rate?: Multiple;
  readonly verdict: ComparisonVerdict;
  /** What `slower` or `faster` rests on: the median, unless only the other one shows it. */
  readonly by?: 'p50' | 'p25';
}

/** Probability that chance alone makes any class of a comparison slower or faster. */
const FALSE_CALLS = 0.01;
/** Chances of each class to be called. */
const QUANTILES = 2;

/** Slices of one class, of each run that has any. */
type ClassRuns = readonly (readonly SliceClass[])[];

export interface RunComparison {
  readonly classes: readonly ClassComparison[];
  /** How often the sides took turns: 1 if all runs of one began before those of the other. */
  readonly turns: number;
}

export function compareRuns(a: readonly ComparedRun[], b: readonly ComparedRun[]): RunComparison {
  const turns = turnsOf(a, b);
  const pairs = DIRECTIONS.flatMap((direction) => {
    const [ofA, ofB] = [classesOf(a, direction), classesOf(b, direction)];
    const bounds = [...new Set([...ofA.keys(), ...ofB.keys()])].sort((x, y) => boundOf(x) - boundOf(y));
    return bounds.map((upToBytes) => ({ direction, upToBytes, a: ofA.get(upToBytes), b: ofB.get(upToBytes) }));
  });
  const compared = pairs.filter((pair) => pair.a !== undefined && pair.b !== undefined).length;
  const sure = sureFactor(FALSE_CALLS / Math.max(1, QUANTILES * compared));
  const classes = pairs.map(({ direction, upToBytes, ...sides }): ClassComparison => {
    const longest = Math.max(
      ...[...(sides.a ?? []), ...(sides.b ?? [])].flat().map((one) => highestValue(one.timesUs)!),
    );
    const [x, y] = [sides.a, sides.b].map((runs) => runs && sideOf(runs, longest, sure));
    const known = { direction, upToBytes, ...(x && { a: x.figures }), ...(y && { b: y.figures }) };
    if (x === undefined || y === undefined) return { ...known, verdict: 'missing' };
    const grown = y.figures.meanBytes / x.figures.meanBytes;
    const p50 = ofSameBytes(multipleOf(x.medians, y.medians, turns, sure), grown);
    const p25 = ofSameBytes(multipleOf(x.quarters, y.quarters, turns, sure), grown);
    const rate = x.rates && y.rates && multipleOf(x.rates, y.rates, turns, sure);
    return { ...known, p50, p25, ...(rate && { rate }), ...verdictOf(p50, p25) };
  });
  return { classes, turns };
}

/** Runs that follow each other share the state of the machine, which changes slowly. */
function turnsOf(a: readonly ComparedRun[], b: readonly ComparedRun[]): number {
  const runs = [...a.map((run) => ({ run, side: 'a' })), ...b.map((run) => ({ run, side: 'b' }))];
  const sides = runs.sort((x, y) => x.run.beginMs - y.run.beginMs).map(({ side }) => side);
  const turns = (of: string): number => sides.filter((side, i) => side === of && sides[i - 1] !== of).length;
  return Math.min(turns('a'), turns('b'));
}

function classesOf(runs: readonly ComparedRun[], direction: SliceDirection): ReadonlyMap<JsonBound, ClassRuns> {
  const classes = new Map<JsonBound, SliceClass[][]>();
  for (const { slices } of runs) {
    const ofRun = new Map<JsonBound, SliceClass[]>();
    for (const one of slices.flatMap((slice) => slice[direction])) {
      if (exponentialCount(one.timesUs) > 0) appended(ofRun, one.upToBytes, one);
    }
    for (const [bound, found] of ofRun) appended(classes, bound, found);
  }
  return classes;
}

function appended<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

interface ComparedSide {
  readonly figures: SideFigures;
  readonly medians: readonly RunFigure[];
  readonly quarters: readonly RunFigure[];
  readonly rates?: readonly RunFigure[];
}

function sideOf(runs: ClassRuns, longestUs: number, sure: number): ComparedSide {
  const all = runs.flat();
  const [transfers, bytes] = [sumOf(all, 'transfers'), sumOf(all, 'bytes')];
  // The median of few transfers is far from those of other runs by chance alone, and would count as much as theirs.
  const counted = runs.every((run) => sumOf(run, 'transfers') >= FEW_TRANSFERS) ? runs : [all];
  const [medians, quarters] = [0.5, 0.25].map((share) => counted.map((run) => quantileFigure(run, share, sure)!));
  const rates = counted.flatMap((run) => rateFigure(run, longestUs, sure) ?? []);
  const hasRate = rates.length === counted.length;
  return {
    figures: {
      transfers,
      meanBytes: bytes / transfers,
      p50Us: meanOf(medians!),
      ...(hasRate && { bytesPerSecond: meanOf(rates) }),
    },
    medians: medians!,
    quarters: quarters!,
    ...(hasRate && { rates }),
  };
}

function sumOf(slices: readonly SliceClass[], field: 'transfers' | 'bytes'): number {
  return slices.reduce((sum, one) => sum + one[field], 0);
}

function meanOf(figures: readonly RunFigure[]): number {
  return Math.exp(figures.reduce((sum, { log }) => sum + log, 0) / figures.length);
}

/** Sizes within a class differ by up to 2. `grown`: bytes of b by those of a, by which any part of its time may have grown. */
function ofSameBytes({ multiple, low, high }: Multiple, grown: number): Multiple {
  if (!(grown > 0) || grown === Infinity) return { multiple, low, high };
  return { multiple, low: low / Math.max(1, grown), high: high / Math.min(1, grown) };
}

function verdictOf(p50: Multiple, p25: Multiple): Pick<ClassComparison, 'verdict' | 'by'> {
  for (const [by, { low, high }] of Object.entries({ p50, p25 }) as ['p50' | 'p25', Multiple][]) {
    if (low > 1) return { verdict: 'slower', by };
    if (high < 1) return { verdict: 'faster', by };
  }
  return { verdict: p50.low === 0 || p50.high === Infinity ? 'few' : 'alike' };
}

/** The multiple that a verdict rests on. */
export function calledMultiple({ by, p50, p25 }: ClassComparison): Multiple | undefined {
  return by && { p50, p25 }[by];
}
