/** Columns of the table of agents: heading, width, text and order of each. Pure. */
import { age, ifKnown, percent, short, shortDuration } from '../figures/formats.js';
import type { Quantile } from '../figures/rates.js';
import type { Row } from './tracker.js';

export const SORT_KEYS = [
  'agent',
  'tx',
  'rx',
  'requests',
  'p50',
  'p99',
  'post',
  'errors',
  'lost',
  'fill',
  'idle',
  'rate',
] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export type Tone = 'plain' | 'warn' | 'bad';

export interface Column {
  readonly key: SortKey;
  readonly heading: string;
  readonly width: number;
  readonly text: (row: Row) => string;
  /** Replaces a rate when totals are shown. */
  readonly total?: { readonly heading: string; of: (row: Row) => number };
  /** Rows with a larger value come first. */
  readonly order: (row: Row) => number;
  readonly tone?: (row: Row) => Tone;
}

const NEARLY_FULL = 0.5;

const lostText = ({ totals }: Row): string => short(totals.lost) + (totals.lostMore ? '+' : '');
const timeText = (time: Quantile | undefined): string =>
  ifKnown(time, ({ value, above }) => (above ? '>' : '') + shortDuration(value));

function idleText({ state, totals: { idleMs } }: Row): string {
  return state === 'dead' ? 'dead' : ifKnown(idleMs, age);
}

/** Columns between the agent's name and the sparkline. Widths fit the longest usual text: `999M`, `1.2ms`. */
export const COLUMNS: readonly Column[] = [
  {
    key: 'tx',
    heading: 'TX/s',
    width: 5,
    text: ({ tx }) => ifKnown(tx, short),
    total: { heading: 'TX', of: ({ totals }) => Number(totals.txBytes) },
    order: ({ tx = 0 }) => tx,
  },
  {
    key: 'rx',
    heading: 'RX/s',
    width: 5,
    text: ({ rx }) => ifKnown(rx, short),
    total: { heading: 'RX', of: ({ totals }) => Number(totals.rxBytes) },
    order: ({ rx = 0 }) => rx,
  },
  {
    key: 'requests',
    heading: 'REQ/s',
    width: 5,
    text: ({ requests }) => ifKnown(requests, short),
    total: { heading: 'REQ', of: ({ totals }) => Number(totals.requests) },
    order: ({ requests = 0 }) => requests,
  },
  { key: 'p50', heading: 'P50', width: 5, text: ({ p50 }) => timeText(p50), order: ({ p50 }) => p50?.value ?? -1 },
  { key: 'p99', heading: 'P99', width: 5, text: ({ p99 }) => timeText(p99), order: ({ p99 }) => p99?.value ?? -1 },
  {
    key: 'post',
    heading: 'POST',
    width: 5,
    text: ({ post99 }) => timeText(post99),
    order: ({ post99 }) => post99?.value ?? -1,
  },
  {
    key: 'errors',
    heading: 'ERR/s',
    width: 5,
    text: ({ errors }) => ifKnown(errors, short),
    total: { heading: 'ERR', of: ({ totals }) => totals.errors },
    order: ({ errors = 0 }) => errors,
    tone: ({ errors = 0 }) => (errors > 0 ? 'bad' : 'plain'),
  },
  {
    key: 'lost',
    heading: 'LOST',
    width: 5,
    text: lostText,
    order: ({ totals: { lost, lostMore } }) => lost + (lostMore ? 0.5 : 0),
    tone: (row) => (lostText(row) === '0' ? 'plain' : 'bad'),
  },
  {
    key: 'fill',
    heading: 'FILL',
    width: 4,
    text: ({ totals }) => ifKnown(totals.fill, percent),
    order: ({ totals: { fill = -1 } }) => fill,
    tone: ({ totals: { fill = 0 } }) => (fill >= NEARLY_FULL ? 'warn' : 'plain'),
  },
  { key: 'idle', heading: 'IDLE', width: 4, text: idleText, order: ({ totals: { idleMs = -1 } }) => idleMs },
];

/** Returns the columns of rates, or those of totals in their place. */
export function shownColumns(totals: boolean): readonly Column[] {
  return totals ? COLUMNS.map(asTotal) : COLUMNS;
}

function asTotal(column: Column): Column {
  const { total } = column;
  if (total === undefined) return column;
  return { ...column, heading: total.heading, text: (row) => short(total.of(row)), order: (row) => total.of(row) };
}

/** Sorts rows. Names decide between equal values, so that rows keep their places. */
export function sorted(rows: readonly Row[], key: SortKey, reverse: boolean, columns = COLUMNS): Row[] {
  const order = orderBy(key, columns);
  const sign = reverse ? -1 : 1;
  return rows.toSorted((a, b) => sign * (order(b) - order(a)) || sign * compareNames(a, b));
}

function orderBy(key: SortKey, columns: readonly Column[]): (row: Row) => number {
  if (key === 'rate') return ({ tx = 0, rx = 0 }) => tx + rx;
  return columns.find((column) => column.key === key)?.order ?? (() => 0);
}

function compareNames({ totals: a }: Row, { totals: b }: Row): number {
  const [left, right] = [`${a.agent}\0${a.place ?? ''}\0${a.id}`, `${b.agent}\0${b.place ?? ''}\0${b.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
