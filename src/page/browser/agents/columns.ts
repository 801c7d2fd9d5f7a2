/** Columns of the table of agents as figures, and its orders. Pure. */
import {
  bytesFigure,
  type Figure,
  leastFigure,
  numberFigure,
  percent,
  timeFigure,
  UNKNOWN,
} from '../../../ground/figures/figure.js';
import { AGENT_COLUMNS, type AgentColumn } from '../../../view/model/columns.js';
import { STATES } from '../../../view/verdict/shapes.js';
import { byName, type TableRow } from './rows.js';

type Value = number | undefined;

/** A heading says that its figures are per second. */
const FIGURES: Readonly<Partial<Record<AgentColumn['unit'], (value: Value) => Figure>>> = {
  bytes: bytesFigure,
  bytesPerSecond: bytesFigure,
  perSecond: numberFigure,
  count: numberFigure,
  us: timeFigure,
};

export type TableColumn = AgentColumn & Required<Pick<AgentColumn, 'page'>>;

export const TABLE_COLUMNS: readonly TableColumn[] = AGENT_COLUMNS.flatMap((column) =>
  column.page === undefined ? [] : [{ ...column, page: column.page }],
);

export function figureOf({ unit, value, text, limit }: TableColumn, row: TableRow): Figure {
  const found = value(row);
  if (text !== undefined) return { value: text(row.agent) ?? UNKNOWN, unit: '' };
  if (unit === 'share') return { value: percent(found), unit: '' };
  return limit?.(row) === 'above' ? leastFigure(found ?? 0, 'some') : FIGURES[unit]!(found);
}

/** Keys of other orders, in the address. */
const SPECIAL_KEYS = ['problems', 'name', 'state'];
export const SORTS: readonly string[] = [...SPECIAL_KEYS, ...TABLE_COLUMNS.map(({ id }) => id)];

const weights = Object.keys(STATES);
/** Troubles first; agents without one weigh the same. */
const weightOf = ({ state }: TableRow): number => Math.min(weights.indexOf(state), weights.indexOf('unknown'));

function valueOf(key: string): (row: TableRow) => Value {
  if (key === 'state') return ({ state }) => weights.indexOf(state);
  return TABLE_COLUMNS.find(({ id }) => id === key)!.value;
}

/** Returns the order of a sort key, as in the address. Agents that ended come last: ten lives of a crash loop hide no other. */
export function orderOf(sort: string): (a: TableRow, b: TableRow) => number {
  const order = orderWithin(sort);
  return (a, b) => Number(a.state === 'ended') - Number(b.state === 'ended') || order(a, b);
}

/** Unknown values come last; rows of the same value by name. */
function orderWithin(sort: string): (a: TableRow, b: TableRow) => number {
  const key = sort.replace(/^-/, '');
  const sign = sort.startsWith('-') ? -1 : 1;
  if (key === 'name') return (a, b) => sign * byName(a, b);
  if (key === 'problems') return (a, b) => weightOf(a) - weightOf(b) || byName(a, b);
  const value = valueOf(key);
  return (a, b) => {
    const [x, y] = [value(a) ?? NaN, value(b) ?? NaN];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || byName(a, b);
    return sign * (x - y) || byName(a, b);
  };
}
