/** The table of time by size as data: agents by size classes. Pure. */
import { bytesRateFigure, type Figure, plural, timeFigure, timeText, UNKNOWN } from '../../../ground/figures/figure.js';
import type { AgentSizes } from '../../../view/sizes/direction-sizes.js';
import type { RecentClass } from '../../../view/sizes/direction-sizes.js';
import {
  againstText,
  baseText,
  boundIn,
  fewText,
  isAlike,
  largestRateText,
  multipleText,
  sizeClassText,
} from '../../../view/sizes/size-words.js';
import type { TimeModel } from '../../../view/sizes/time-line.js';
import type { SizeDirection, CellMeasure } from '../view.js';

export interface SizeCell {
  readonly figure: Figure;
  /** Shade of the cell, from 0 to 4: its number says the same. */
  readonly slowness: number;
  /** Why the number says little; empty if it rests on enough transfers. */
  readonly few: string;
  readonly title: string;
}

/** Words stand in place of a number that is unknown. */
export type FigureOrWords = { readonly figure: Figure } | { readonly words: string };

export interface SizeRow {
  readonly id: number;
  readonly name: string;
  /** By the bound of the class. */
  readonly cells: ReadonlyMap<number, SizeCell>;
  readonly base: FigureOrWords;
  readonly posting: Figure;
  readonly rate: FigureOrWords;
  /** That of its slowest cell. */
  readonly slowness: number;
}

/** Multiples from which a cell has the next shade. */
const SLOW_FROM = [1.5, 3, 8, 20];

export function slownessOf(multiple: number | undefined): number {
  if (multiple === undefined || isAlike(multiple)) return 0;
  return SLOW_FROM.filter((from) => multiple >= from).length;
}

/** Compares with peers where that is possible: fewer than four agents have no peers. */
export function usualMeasure(agents: readonly AgentSizes[], direction: SizeDirection): CellMeasure {
  const known = agents.some((agent) => agent[direction].recent.some(({ againstPeers }) => againstPeers !== undefined));
  return known ? 'peers' : 'time';
}

/** Returns the directions that any of the agents moved bytes in. */
export function movedDirections(agents: readonly Pick<AgentSizes, SizeDirection>[]): SizeDirection[] {
  return (['tx', 'rx'] as const).filter((direction) => agents.some((agent) => agent[direction].classes.length > 0));
}

/** Returns a row for each agent with transfers in the window. */
export function sizeRowsOf(agents: readonly AgentSizes[], direction: SizeDirection, measure: CellMeasure): SizeRow[] {
  const moving = agents.filter((agent) => agent[direction].recent.length > 0);
  return moving.map(({ id, name, [direction]: { recent, model, posting } }) => {
    const cells = new Map(recent.map((one) => [boundIn(one), cellOf(one, measure)]));
    const levels = [...cells.values()].map(({ few, slowness }) => (few === '' ? slowness : 0));
    return { id, name, cells, ...partsOf(model), posting: timeFigure(posting?.p50Us), slowness: Math.max(...levels) };
  });
}

export function partsOf(model: TimeModel): Pick<SizeRow, 'base' | 'rate'> {
  const { baseUs, bytesPerSecond } = model.kind === 'line' ? model : {};
  return {
    base: baseUs === undefined ? { words: baseText(model) } : { figure: timeFigure(baseUs) },
    rate:
      bytesPerSecond === undefined ? { words: largestRateText(model) } : { figure: bytesRateFigure(bytesPerSecond) },
  };
}

/** Returns the bounds of all classes, ascending: the columns. */
export function boundsIn(rows: readonly SizeRow[]): number[] {
  return [...new Set(rows.flatMap(({ cells }) => [...cells.keys()]))].sort((a, b) => a - b);
}

/**
 * Keeps rows of agents in `order`, and puts them into it. `held`: places that rows keep under a pointer or the focus. `isSlowestFirst`: the
 * order is by shades, so that noise moves no row.
 */
export function orderedSizes(
  rows: readonly SizeRow[],
  order: readonly number[],
  isSlowestFirst: boolean,
  held: readonly number[] = [],
): SizeRow[] {
  const places = new Map(order.map((id, i) => [id, i]));
  const kept = new Map(held.map((id, i) => [id, i]));
  const heldAt = ({ id }: SizeRow): number => kept.get(id) ?? held.length;
  return rows
    .filter(({ id }) => places.has(id))
    .sort(
      (a, b) =>
        heldAt(a) - heldAt(b) ||
        (isSlowestFirst ? b.slowness - a.slowness : 0) ||
        places.get(a.id)! - places.get(b.id)!,
    );
}

function cellOf(one: RecentClass, measure: CellMeasure): SizeCell {
  const few = one.few ? fewText(one) : '';
  const figures: Readonly<Record<CellMeasure, Figure>> = {
    peers: multipleFigure(one.againstPeers),
    earlier: multipleFigure(one.againstEarlier),
    time: timeFigure(one.p50Us),
    rate: bytesRateFigure(one.bytesPerSecond),
  };
  const multiple = measure === 'peers' ? one.againstPeers : measure === 'earlier' ? one.againstEarlier : undefined;
  return { figure: figures[measure], slowness: slownessOf(multiple), few, title: titleOf(one, few) };
}

function multipleFigure(multiple: number | undefined): Figure {
  return { value: multiple === undefined ? UNKNOWN : multipleText(multiple), unit: '' };
}

/** `up to 256 KiB: 719 transfers, median 566 µs, p99 2.15 ms, 17 times its peers` */
function titleOf(
  { upToBytes, transfers, p50Us, p99Us, againstPeers, againstEarlier }: RecentClass,
  few: string,
): string {
  const parts = [
    few === '' ? plural(transfers, 'transfer') : few,
    `median ${timeText(p50Us)}`,
    `p99 ${timeText(p99Us)}`,
    ...(againstPeers === undefined ? [] : [againstText(againstPeers, 'its peers')]),
    ...(againstEarlier === undefined ? [] : [againstText(againstEarlier, 'itself before')]),
  ];
  return `${upToText(boundIn({ upToBytes }))}: ${parts.join(', ')}`;
}

export function upToText(bound: number): string {
  return `${bound === Infinity ? '' : 'up to '}${sizeClassText(bound)}`;
}
