/** Columns of the table of agents. */
import {
  bytesFigure,
  bytesRateFigure,
  countFigure,
  type Figure,
  rateFigure,
  timeFigure,
} from '../../../figures/figure.js';
import { STATES } from '../../../verdict/shapes.js';
import { byName, type Row } from './rows.js';

export interface Column {
  /** In the address. */
  readonly key: string;
  readonly heading: string;
  /** Width of the window from which the column is shown, in pixels: a class of agents.css. Absent: always. */
  readonly from?: 901 | 1121 | 1700 | 2100;
  /** Returns the value of a row; undefined or null if it is unknown. */
  readonly value: (row: Row) => number | null | undefined;
  readonly figure: (value: number | null | undefined, row: Row) => Figure;
  readonly tone?: (row: Row) => 'warn' | 'bad' | undefined;
}

/** The heading says that it is per second. */
const perSecond = (value: number | null | undefined): Figure => {
  const { value: text, unit } = bytesRateFigure(value);
  return { value: text, unit: unit.replace('/s', '') };
};

/** Returns no number after a full ring: the events that it refused are counted nowhere. */
const lost = (dropped: number | null | undefined, { agent }: Row): Figure =>
  agent.foundFull > 0 ? { value: 'some', unit: '' } : countFigure(dropped);

const tooLow = ({ state }: Row): 'warn' | undefined => (state === 'incomplete' ? 'warn' : undefined);

export const COLUMNS: readonly Column[] = [
  { key: 'tx', heading: 'tx/s', value: ({ tx }) => tx, figure: perSecond, tone: tooLow },
  { key: 'rx', heading: 'rx/s', value: ({ rx }) => rx, figure: perSecond },
  { key: 'requests', heading: 'Requests/s', from: 901, value: ({ requests }) => requests, figure: rateFigure },
  {
    key: 'p50',
    heading: 'p50',
    from: 1700,
    value: ({ agent }) => agent.recentTransferTimeUs?.p50,
    figure: timeFigure,
  },
  { key: 'p99', heading: 'p99', value: ({ agent }) => agent.recentTransferTimeUs?.p99, figure: timeFigure },
  {
    key: 'post',
    heading: 'Post p99',
    from: 1700,
    value: ({ agent }) => agent.recentPostTimeUs?.p99,
    figure: timeFigure,
  },
  {
    key: 'errors',
    heading: 'Errors/s',
    value: ({ errors }) => errors,
    figure: rateFigure,
    tone: ({ state }) => (state === 'failing' ? 'bad' : undefined),
  },
  { key: 'memory', heading: 'Memory', from: 1700, value: ({ agent }) => agent.memoryBytes, figure: bytesFigure },
  { key: 'lost', heading: 'Lost', from: 2100, value: ({ agent }) => agent.dropped, figure: lost },
];

/** Columns that are no plain numbers, with their keys in the address. */
export const SPECIAL_KEYS = ['problems', 'name', 'state', 'fill', 'gpu', 'pid'] as const;
export const SORTS: readonly string[] = [...SPECIAL_KEYS, ...COLUMNS.map(({ key }) => key)];

const weights = Object.keys(STATES);
/** Troubles first; live and idle weigh the same. */
const weightOf = ({ state }: Row): number => (state === 'idle' ? weights.indexOf('live') : weights.indexOf(state));

const OTHER_VALUES: Readonly<Record<string, (row: Row) => number | null | undefined>> = {
  state: ({ state }) => weights.indexOf(state),
  fill: ({ agent }) => agent.fill,
  gpu: ({ agent }) => (agent.gpus === undefined ? undefined : Number.parseInt(agent.gpus, 10)),
  pid: ({ agent }) => agent.pid,
};

/** Returns the order of a sort key, as in the address. Unknown values come last; rows of the same value by name. */
export function orderOf(sort: string): (a: Row, b: Row) => number {
  const key = sort.replace(/^-/, '');
  const sign = sort.startsWith('-') ? -1 : 1;
  if (key === 'name') return (a, b) => sign * byName(a, b);
  if (key === 'problems') return (a, b) => weightOf(a) - weightOf(b) || byName(a, b);
  const value = COLUMNS.find((column) => column.key === key)?.value ?? OTHER_VALUES[key]!;
  return (a, b) => {
    const [x, y] = [value(a) ?? NaN, value(b) ?? NaN];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || byName(a, b);
    return sign * (x - y) || byName(a, b);
  };
}
