/** Histograms as horizontal bars: transfer times, post times, and sizes by direction. Pure. */
import { bucketMiddle, type ExponentialTally } from '../../ground/exponential.js';
import { binaryText, boundText, numberText, rangeText, timeFigure } from '../../ground/figures/figure.js';
import { isBuckets, type TimeCounts, timeFigures } from '../../view/figures/time-figures.js';
import type { AgentModel } from '../../view/model/agent-model.js';
import { bar } from './graph.js';
import { type Line, piece, type Style } from './line.js';

interface Range {
  /** Bounds: the lower one does not belong to the range. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

const LABEL = 15;
const COUNT = 13;
/** Longer distributions are shown with their lower ranges joined. */
const MAX_RANGES = 14;

/** Counts of times since a time, which `since` names. */
export interface Times {
  readonly counts: TimeCounts | undefined;
  readonly since: string;
}

export function timeBars(title: string, of: Times, style: Style, width: number, unicode: boolean): Line[] {
  const { counts: times, since } = of;
  const ranges = times === undefined ? [] : limited(isBuckets(times) ? bucketRanges(times) : timeRanges(times));
  const head: Line = [piece(`  ${title}`, 'bold'), piece(`, ${since}`, 'dim')];
  if (times === undefined || ranges.length === 0) return [head, [piece('  no transfers', 'dim')]];
  const p99 = timeFigures(times)?.p99 ?? -1;
  const most = Math.max(...ranges.map(({ count }) => count));
  const room = Math.max(4, width - LABEL - COUNT - 3);
  return [
    head,
    ...ranges.map(({ from, to, count }): Line => {
      const label = piece(labelOf(from, to).padStart(LABEL), p99 > from && p99 <= to ? 'bold' : 'plain');
      return [label, ...countCells(count, most, room, style, unicode)];
    }),
  ];
}

function countCells(count: number, most: number, room: number, style: Style, unicode: boolean): Line {
  const text = piece(numberText(count).padStart(COUNT), count === 0 ? 'dim' : 'plain');
  return [piece(` ${bar(count / most, room, unicode)}`, style), text];
}

/** Ranges between 1, 2.5 and 5 times a power of ten. */
function timeRanges(tally: ExponentialTally): Range[] {
  const counts = countsByRange(tally, (bucket) => rangeOf(bucketMiddle(tally, bucket)));
  return between(counts, (range) => ({ from: boundOf(range - 1), to: boundOf(range) }));
}

const STEPS = [1, 2.5, 5] as const;

/** Upper bound of a range of times: 0 is that of times up to 1 us. */
function boundOf(range: number): number {
  if (range < 0) return -1;
  return STEPS[range % STEPS.length]! * 10 ** Math.floor(range / STEPS.length);
}

function rangeOf(value: number): number {
  let range = 0;
  while (boundOf(range) < value) range++;
  return range;
}

function bucketRanges({ bounds, counts }: { bounds: readonly number[]; counts: readonly number[] }): Range[] {
  const filled = counts.flatMap((count, i) => (count > 0 ? [i] : []));
  const [first, last] = [filled[0], filled.at(-1)];
  if (first === undefined || last === undefined) return [];
  return counts
    .map((count, i) => ({ from: bounds[i - 1] ?? -1, to: bounds[i] ?? Infinity, count }))
    .slice(first, last + 1);
}

/** Returns all ranges from the first to the last one with values. */
function between(counts: ReadonlyMap<number, number>, boundsOf: (range: number) => Omit<Range, 'count'>): Range[] {
  if (counts.size === 0) return [];
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  return Array.from({ length: last - first + 1 }, (_, i) => {
    return { ...boundsOf(first + i), count: counts.get(first + i) ?? 0 };
  });
}

function limited(ranges: readonly Range[]): readonly Range[] {
  const extra = ranges.length - MAX_RANGES;
  if (extra <= 0) return ranges;
  const joined = ranges.slice(0, extra + 1);
  const count = joined.reduce((sum, one) => sum + one.count, 0);
  return [{ from: -1, to: joined.at(-1)!.to, count }, ...ranges.slice(extra + 1)];
}

function labelOf(from: number, to: number): string {
  if (to === Infinity) return `over ${boundText(timeFigure(from))}`;
  return from < 0 ? `up to ${boundText(timeFigure(to))}` : rangeText(timeFigure(from), timeFigure(to));
}

/** Sizes of transfers, four times larger from line to line. */
export function sizeBars(details: Partial<AgentModel> | undefined, width: number, unicode: boolean): Line[] {
  if (details?.txSizes === undefined || details.rxSizes === undefined) return [];
  const [tx, rx] = [sizeCounts(details.txSizes), sizeCounts(details.rxSizes)];
  const all = between(new Map([...tx, ...rx].map(([range]) => [range, 0])), (range) => {
    return { from: 4 ** (range - 1), to: 4 ** range };
  });
  const head: Line = [piece('  SIZES', 'bold'), piece(' so far, up to', 'dim')];
  if (all.length === 0) return [];
  const room = Math.max(2, Math.floor((width - 12 - 2 * COUNT - 4) / 2));
  const most = Math.max(...tx.values(), ...rx.values());
  const cells = (count: number, style: Style): Line => countCells(count, most, room, style, unicode);
  const heads = [
    piece('tx'.padStart(Math.max(3, room + COUNT - 17)), 'tx'),
    piece('rx'.padStart(room + COUNT + 1), 'rx'),
  ];
  const lines = all.map(({ to }): Line => {
    const range = Math.round(Math.log2(to) / 2);
    return [piece(binaryText(to).padStart(12)), ...cells(tx.get(range) ?? 0, 'tx'), ...cells(rx.get(range) ?? 0, 'rx')];
  });
  return [[...head, ...heads], ...lines];
}

/** Counts by the exponent of 4 that is the upper bound of the sizes. */
function sizeCounts(tally: ExponentialTally): Map<number, number> {
  // The bound of a bucket belongs to it, and is at most this power of two.
  const exponentOf = (bucket: number): number => (bucket + 1) / 2 ** tally.scale;
  return countsByRange(tally, (bucket) => Math.max(0, Math.ceil(exponentOf(bucket) / 2)));
}

/** Sums the counts of buckets in the same range. Values of 0 are in range 0. */
function countsByRange(tally: ExponentialTally, rangeOfBucket: (bucket: number) => number): Map<number, number> {
  const sums = new Map<number, number>(tally.zeroCount > 0 ? [[0, tally.zeroCount]] : []);
  for (let i = 0; i < tally.counts.length; i++) {
    if (tally.counts[i] === 0) continue;
    const range = rangeOfBucket(tally.offset + i);
    sums.set(range, (sums.get(range) ?? 0) + tally.counts[i]!);
  }
  return sums;
}
