/** Columns of the table of agents: heading, width, text and order of each. Pure. */
import type { Exact } from '../../exact.js';
import { age, ifKnown, percent, short, shortDuration } from '../figures/formats.js';
import type { Rates } from '../figures/totals.js';
import type { Quantile } from './buckets.js';
import type { AgentTotals } from './sampler.js';
import type { Row } from './tracker.js';

export interface Column {
  readonly key: string;
  readonly heading: string;
  readonly width: number;
  readonly text: (row: Row) => string;
  /** Number of bytes or events behind the text; undefined if it is not known. */
  readonly value?: (row: Row) => number | undefined;
  /** Replaces a rate when totals are shown. */
  readonly total?: { readonly heading: string; readonly of: (row: Row) => number };
  /** Rows with a larger value come first. */
  readonly order: (row: Row) => number;
}

const rate = (key: keyof Rates, name: string, total: (totals: AgentTotals) => Exact): Omit<Column, 'key'> => ({
  heading: `${name}/s`,
  width: 5,
  text: (row) => ifKnown(row[key], short),
  value: (row) => row[key],
  total: { heading: name, of: ({ totals }) => Number(total(totals)) },
  order: (row) => row[key] ?? 0,
});

const LIMIT_SIGNS = { below: '<', above: '>' };

const time = (heading: string, of: (row: Row) => Quantile | undefined): Omit<Column, 'key'> => ({
  heading,
  width: 6,
  text: (row) => ifKnown(of(row), ({ value, limit }) => (limit ? LIMIT_SIGNS[limit] : '') + shortDuration(value)),
  order: (row) => of(row)?.value ?? -1,
});

const lostText = ({ totals }: Row): string => short(totals.lost) + (totals.lostMore ? '+' : '');

/** Columns between the agent's name and the sparkline. Widths fit the longest usual text: `999M`, `1.07ms`. */
export const COLUMNS = [
  { key: 'tx', ...rate('tx', 'TX', ({ txBytes }) => txBytes) },
  { key: 'rx', ...rate('rx', 'RX', ({ rxBytes }) => rxBytes) },
  { key: 'requests', ...rate('requests', 'REQ', ({ requests }) => requests) },
  { key: 'p50', ...time('P50', ({ transferTime }) => transferTime?.p50) },
  { key: 'p90', ...time('P90', ({ transferTime }) => transferTime?.p90) },
  { key: 'p99', ...time('P99', ({ transferTime }) => transferTime?.p99) },
  { key: 'max', ...time('MAX', ({ transferTime }) => transferTime?.max) },
  { key: 'post', ...time('POST', ({ postTime }) => postTime?.p99) },
  { key: 'errors', ...rate('errors', 'ERR', ({ errors }) => errors) },
  {
    key: 'lost',
    heading: 'LOST',
    width: 5,
    text: lostText,
    order: ({ totals: { lost, lostMore } }) => lost + (lostMore ? 0.5 : 0),
  },
  {
    key: 'fill',
    heading: 'FILL',
    width: 4,
    text: ({ totals }) => ifKnown(totals.fill, percent),
    order: ({ totals: { fill = -1 } }) => fill,
  },
  {
    key: 'idle',
    heading: 'IDLE',
    width: 4,
    text: ({ state, totals }) => (state === 'dead' ? 'dead' : ifKnown(totals.idleMs, age)),
    order: ({ totals: { idleMs = -1 } }) => idleMs,
  },
] as const satisfies readonly Column[];

export type SortKey = 'agent' | (typeof COLUMNS)[number]['key'] | 'rate';
export const SORT_KEYS: readonly SortKey[] = ['agent', ...COLUMNS.map(({ key }) => key), 'rate'];

/** Returns the columns of rates, or those of totals in their place. */
export function columnsFor(totals: boolean): readonly Column[] {
  return totals ? COLUMNS.map(asTotal) : COLUMNS;
}

function asTotal(column: Column): Column {
  const { total } = column;
  if (total === undefined) return column;
  return { ...column, heading: total.heading, text: (row) => short(total.of(row)), value: total.of, order: total.of };
}

/** Sorts rows. Names decide between equal values, so that rows keep their places. */
export function sorted(rows: readonly Row[], key: SortKey, reverse: boolean, columns: readonly Column[]): Row[] {
  const order = orderBy(key, columns);
  const sign = reverse ? -1 : 1;
  return rows.toSorted((a, b) => sign * (order(b) - order(a)) || sign * compareNames(a, b));
}

/** Returns the number by which rows are sorted, larger ones first; 0 for all if names alone decide. */
export function orderBy(key: SortKey, columns: readonly Column[]): (row: Row) => number {
  if (key === 'rate') return ({ tx = 0, rx = 0 }) => tx + rx;
  return columns.find((column) => column.key === key)?.order ?? (() => 0);
}

let collator: Intl.Collator | undefined;

/** Compares names, with numbers in numeric order. */
export function compareNames({ totals: a }: Row, { totals: b }: Row): number {
  collator ??= new Intl.Collator('en', { numeric: true });
  const byName = collator.compare(a.agent, b.agent) || collator.compare(a.place ?? '', b.place ?? '');
  return byName || collator.compare(a.host ?? '', b.host ?? '') || (a.id < b.id ? -1 : 1);
}
