/** The columns of the table: what stands in them, how wide they are, and how rows are sorted by them. Pure. */
import { ageText } from '../figures/table.js';
import { percent, short, timeText } from './text.js';
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
  /** What it shows in place of a rate, where it shows one. */
  readonly total?: { readonly heading: string; of: (row: Row) => number };
  /** Larger comes first. */
  readonly order: (row: Row) => number;
  readonly tone?: (row: Row) => Tone;
}

const CROWDED = 0.5;

const lostText = ({ totals }: Row): string => short(totals.lost) + (totals.lostMore ? '+' : '');

function idleText({ state, totals: { idleMs } }: Row): string {
  if (state === 'dead') return 'dead';
  return idleMs === undefined ? '-' : ageText(idleMs);
}

/** Between the agent's name and the sparkline. Widths are those of the longest text, `999M` or `1.2ms` as a rule. */
export const COLUMNS: readonly Column[] = [
  {
    key: 'tx',
    heading: 'TX/s',
    width: 5,
    text: ({ tx }) => short(tx),
    total: { heading: 'TX', of: ({ totals }) => totals.txBytes },
    order: ({ tx = 0 }) => tx,
  },
  {
    key: 'rx',
    heading: 'RX/s',
    width: 5,
    text: ({ rx }) => short(rx),
    total: { heading: 'RX', of: ({ totals }) => totals.rxBytes },
    order: ({ rx = 0 }) => rx,
  },
  {
    key: 'requests',
    heading: 'REQ/s',
    width: 5,
    text: ({ requests }) => short(requests),
    total: { heading: 'REQ', of: ({ totals }) => totals.requests },
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
    text: ({ errors }) => short(errors),
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
    text: ({ totals }) => percent(totals.fill),
    order: ({ totals: { fill = -1 } }) => fill,
    tone: ({ totals: { fill = 0 } }) => (fill >= CROWDED ? 'warn' : 'plain'),
  },
  {
    key: 'idle',
    heading: 'IDLE',
    width: 4,
    text: idleText,
    order: ({ totals: { idleMs = -1 } }) => idleMs,
  },
];

function orderOf(key: SortKey, columns: readonly Column[]): (row: Row) => number {
  if (key === 'rate') return ({ tx = 0, rx = 0 }) => tx + rx;
  return columns.find((column) => column.key === key)?.order ?? (() => 0);
}

/** As they are to be shown. */
export function shownColumns(totals: boolean): readonly Column[] {
  return totals ? COLUMNS.map(asTotal) : COLUMNS;
}

function asTotal(column: Column): Column {
  const { total } = column;
  if (total === undefined) return column;
  return { ...column, heading: total.heading, text: (row) => short(total.of(row)), order: (row) => total.of(row) };
}

/** Names decide where values are the same, so that rows do not jump. */
export function sorted(rows: readonly Row[], key: SortKey, reverse: boolean, columns = COLUMNS): Row[] {
  const order = orderOf(key, columns);
  const sign = reverse ? -1 : 1;
  return rows.toSorted((a, b) => sign * (order(b) - order(a)) || sign * byName(a, b));
}

function byName({ totals: a }: Row, { totals: b }: Row): number {
  const [left, right] = [`${a.agent}\0${a.place ?? ''}\0${a.id}`, `${b.agent}\0${b.place ?? ''}\0${b.id}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
