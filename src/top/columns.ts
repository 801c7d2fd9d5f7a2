/** Columns of top: heading, width, text and order of each. Pure. */
import { oneLine } from '../ground/one-line.js';
import { spanText } from '../ground/figures/clock.js';
import { boundText, bytesText, ifKnown, percent, shortText, timeFigure, timeText } from '../ground/figures/figure.js';
import { AGENT_COLUMNS, type AgentColumn } from '../view/model/columns.js';
import type { TopRow } from './tracker.js';

export interface TopColumn {
  readonly id: string;
  readonly heading: string;
  readonly width: number;
  readonly text: (row: TopRow) => string;
  /** Rows with a larger value come first. */
  readonly order: (row: TopRow) => number;
  readonly about: AgentColumn & Required<Pick<AgentColumn, 'top'>>;
}

/** Widths fit the longest usual text: `1.07 ms`, `11.1 k`. `unknown`: place of unknown values in the order. */
const UNITS: Readonly<
  Record<AgentColumn['unit'], readonly [width: number, text: (value?: number) => string, unknown: number]>
> = {
  bytes: [7, bytesText, -1],
  bytesPerSecond: [7, bytesText, 0],
  perSecond: [6, shortText, 0],
  count: [7, shortText, -1],
  us: [7, timeText, -1],
  ms: [6, (ms) => ifKnown(ms, spanText), -1],
  share: [4, percent, -1],
  text: [7, (value) => ifKnown(value, String), -1],
};

const LIMIT_SIGNS = { below: '<', above: '>' };

const ofTop = AGENT_COLUMNS.flatMap((about) => (about.top === undefined ? [] : columnOf({ ...about, top: about.top })));
/** Columns between the agent's name and the sparkline. Those of the screen alone follow the others. */
export const TOP_COLUMNS = [...ofTop.filter(isInLines), ...ofTop.filter((column) => !isInLines(column))];
export const LINE_COLUMNS = TOP_COLUMNS.filter(isInLines);
export const SORT_KEYS: readonly string[] = ['agent', ...LINE_COLUMNS.map(({ id }) => id), 'rate'];

function isInLines({ about }: TopColumn): boolean {
  return about.top.screenOnly !== true;
}

function columnOf(about: TopColumn['about']): TopColumn {
  const { id, unit, value, text: textOf, top } = about;
  const [width, format, unknown] = UNITS[unit];
  const text = (row: TopRow): string => {
    if (textOf !== undefined) return ifKnown(textOf(row.agent), oneLine);
    if (unit === 'ms' && row.agent.life === 'dead') return 'dead';
    const [found, limit] = [value(row), about.limit?.(row)];
    if (limit === undefined) return format(found);
    return unit === 'count' ? `${format(found)}+` : LIMIT_SIGNS[limit] + boundText(timeFigure(found));
  };
  const more = (row: TopRow): number => (unit === 'count' && about.limit?.(row) === 'above' ? 0.5 : 0);
  return { id, heading: top.heading, width, text, order: (row) => (value(row) ?? unknown) + more(row), about };
}

/** Returns the columns of rates, or those of totals in their place. */
export function columnsFor(totals: boolean): readonly TopColumn[] {
  return totals ? TOP_COLUMNS.map(asTotal) : TOP_COLUMNS;
}

function asTotal(column: TopColumn): TopColumn {
  const { total, unit } = column.about;
  if (total === undefined) return column;
  const of = ({ agent }: TopRow): number => total(agent);
  return { ...column, heading: column.heading.replace('/s', ''), text: (row) => UNITS[unit][1](of(row)), order: of };
}

/** Sorts rows. Names decide between equal values, so that rows keep their places. */
export function sorted(
  rows: readonly TopRow[],
  key: string,
  reverse: boolean,
  columns: readonly TopColumn[],
): TopRow[] {
  const order = orderBy(key, columns);
  const sign = reverse ? -1 : 1;
  return rows.toSorted((a, b) => sign * (order(b) - order(a)) || sign * compareNames(a, b));
}

/** Returns the number by which rows are sorted, larger ones first; 0 for all if names alone decide. */
export function orderBy(key: string, columns: readonly TopColumn[]): (row: TopRow) => number {
  if (key === 'rate') return ({ txBytesPerSecond: tx = 0, rxBytesPerSecond: rx = 0 }) => tx + rx;
  return columns.find(({ id }) => id === key)?.order ?? (() => 0);
}

let collator: Intl.Collator | undefined;

/** Compares names, with numbers in numeric order. */
export function compareNames({ agent: a }: TopRow, { agent: b }: TopRow): number {
  collator ??= new Intl.Collator('en', { numeric: true });
  const byName =
    collator.compare(a.engine?.label ?? a.agent, b.engine?.label ?? b.agent) ||
    collator.compare(a.place ?? '', b.place ?? '');
  return byName || collator.compare(a.host ?? '', b.host ?? '') || (a.id < b.id ? -1 : 1);
}
