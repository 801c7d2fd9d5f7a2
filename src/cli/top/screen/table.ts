/** The table of agents: its columns by width, headings and rows. Pure. */
import { oneLine } from '../../../one-line.js';
import { bytesFigure } from '../../figures/figure.js';
import { age, ifKnown } from '../../figures/formats.js';
import { fit } from '../../figures/table.js';
import { SHAPES, STATES } from '../../verdict/shapes.js';
import type { StateOfAgent } from '../../verdict/types.js';
import { type Column, columnsFor, SORT_KEYS } from '../columns.js';
import { nameAtHost, nameOf } from '../selection.js';
import type { Row } from '../tracker.js';
import { bar, sparkline } from './graph.js';
import type { TablePlace, UiState } from './keys.js';
import { blank, columnsOf, filled, type Line, type Piece, piece, type Style, styled } from './line.js';
import { nameLine, sharedStems } from './names.js';
import type { Scene, Surroundings } from './scene.js';

/** Least width of a terminal that shows the column. A column also shows while it decides the order. */
const FROM_WIDTH: Readonly<Record<string, number>> = {
  tx: 0,
  rx: 0,
  p99: 46,
  errors: 54,
  requests: 62,
  fill: 70,
  lost: 76,
  p50: 100,
  state: 120,
  post: 140,
  idle: 140,
  memory: 160,
  p90: 200,
  max: 200,
  gpus: 200,
  pid: 200,
};
const HOST_FROM_WIDTH = 100;
const MAX_HOST = 24;
const BAR_FROM_WIDTH = 120;
const BAR = 4;
const SHAPE = 2;
const MIN_NAME = 8;
const MIN_SPARK = 6;
const MAX_SPARK = 60;
const SPARK_SPAN_MS = 60_000;
const NEARLY_FULL = 0.8;

interface ScreenColumn extends Pick<Column, 'key' | 'heading' | 'width'> {
  readonly text: (row: Row, state: StateOfAgent | undefined, nowMs: number) => string;
  readonly isText?: boolean;
}

const STATE: ScreenColumn = {
  key: 'state',
  heading: 'STATE',
  width: 11,
  text: (_, of, nowMs) => {
    if (of === undefined) return 'old file';
    const { word } = STATES[of.state];
    return of.state === 'ended' && of.sinceMs !== undefined ? `${word} ${age(Math.max(0, nowMs - of.sinceMs))}` : word;
  },
  isText: true,
};

const LAST: readonly ScreenColumn[] = [
  { key: 'memory', heading: 'MEMORY', width: 6, text: ({ totals }) => ifKnown(totals.memoryBytes, shortBytes) },
  { key: 'gpus', heading: 'GPU', width: 7, text: ({ totals }) => ifKnown(totals.gpus, oneLine) },
  { key: 'pid', heading: 'PID', width: 7, text: ({ totals }) => ifKnown(totals.pid, String) },
];

export type Layout = ReturnType<typeof layoutFor>;

/** Names get the width of the longest one before the sparkline gets any. `sparkWidth`: 0 if it does not fit. */
export function layoutFor({ rows, view }: Pick<Scene, 'rows' | 'view'>, width: number, { sort, totals }: UiState) {
  const isShown = ({ key }: ScreenColumn): boolean => width >= FROM_WIDTH[key]! || key === sort;
  const numbers = columnsFor(totals).map((column) => onScreen(column, width));
  const columns = [STATE, ...numbers, ...LAST].filter(isShown);
  const hosts = view.parts.length > 1 && width >= HOST_FROM_WIDTH ? view.parts.map(({ host = '' }) => host) : [];
  const hostWidth = Math.min(MAX_HOST, Math.max(0, ...hosts.map(columnsOf)));
  const gap = width >= 160 ? '  ' : ' ';
  const taken = columns.reduce((sum, column) => sum + gap.length + column.width, SHAPE);
  const rest = width - taken - (hostWidth > 0 ? hostWidth + gap.length : 0);
  const names = new Map(rows.map((row) => [row.totals.id, oneLine((hostWidth === 0 ? nameOf : nameAtHost)(row))]));
  const longest = Math.max(MIN_NAME, ...[...names.values()].map(columnsOf));
  const nameWidth = Math.max(MIN_NAME, Math.min(longest, rest));
  const spark = Math.min(MAX_SPARK, rest - nameWidth - 1);
  const sparkWidth = spark >= MIN_SPARK ? spark : 0;
  return { columns, gap, hostWidth, names, nameWidth, sparkWidth, stems: sharedStems([...names.values()]) };
}

/** Rates have room for the mark of too low ones, and digits that keep their places. */
function onScreen(column: Column, width: number): ScreenColumn {
  const { key } = column;
  if (key === 'fill' && width >= BAR_FROM_WIDTH) return { ...column, width: column.width + BAR + 1 };
  if (key !== 'tx' && key !== 'rx') return column;
  return { ...column, width: column.width + 1, text: (row) => ifKnown(column.value?.(row), shortBytes) };
}

/** Three digits: `829M`, `1.05G`. */
function shortBytes(value: number): string {
  const { value: digits, unit } = bytesFigure(value);
  return digits + unit.replace('B', '');
}

/** Heading of the table. The column that decides the order is bold, with the direction. */
export function headingLine(layout: Layout, state: UiState, { unicode }: Surroundings): Line {
  const { columns, gap, nameWidth, hostWidth, sparkWidth } = layout;
  // Names rise, numbers fall, unless the order is reversed.
  const rises = (state.sort === 'agent') !== state.reverse;
  const mark = unicode ? (rises ? '▴' : '▾') : rises ? '^' : 'v';
  const heading = (key: string, text: string, width: number, isText = false): Piece => {
    const marked = key === state.sort ? text + mark : text;
    const missing = ' '.repeat(Math.max(0, width - marked.length));
    return piece(isText ? marked + missing : missing + marked, key === state.sort ? 'bold' : 'dim');
  };
  const name = heading('agent', 'AGENT', 0, true);
  const first = piece(state.problemsFirst && nameWidth >= 14 ? ' !first' : '', 'dim');
  return [
    blank(SHAPE),
    ...filled([name, first], nameWidth),
    ...(hostWidth > 0 ? [blank(gap.length), heading('host', 'HOST', hostWidth, true)] : []),
    ...columns.flatMap(({ key, heading: text, width, isText }) => {
      // The mark of a heading without room lies in the gap between the columns, so that the heading keeps its place.
      const isWide = key === state.sort && text.length >= width;
      const before = isWide ? gap.length - 1 : gap.length;
      return [blank(before), heading(key, text, isWide ? width + 1 : width, isText)];
    }),
    ...(sparkWidth > 0 ? [blank(1), heading('rate', sparkWidth >= 20 ? 'TX+RX 60 s, one scale' : 'TX+RX 60s', 0)] : []),
  ];
}

/** Columns of the screen under each heading that sorts. */
export function headingPlaces(layout: Layout): TablePlace['headings'] {
  const { columns, gap, nameWidth, hostWidth } = layout;
  const names = SHAPE + nameWidth;
  let at = names + (hostWidth > 0 ? gap.length + hostWidth : 0);
  const places = columns.map(({ key, width }) => ({ key, from: at, to: (at += gap.length + width) }));
  const all = [{ key: 'agent', from: 0, to: names }, ...places, { key: 'rate', from: at, to: Infinity }];
  return all.flatMap(({ key, ...place }) =>
    SORT_KEYS.filter((one) => one === key).map((one) => ({ key: one, ...place })),
  );
}

/** `scale`: bytes per second of a full bar in the sparkline. */
export function rowLine(row: Row, scene: Scene, layout: Layout, around: Surroundings, scale: number): Line {
  const { columns, gap, names, nameWidth, hostWidth, sparkWidth, stems } = layout;
  const { id, host = '', missed } = row.totals;
  const state = scene.verdict.states.get(id);
  const { shape, tone } = STATES[state?.state ?? 'idle'];
  const isQuiet = state === undefined || tone === 'idle' || isStale(row, scene);
  const { glyph, ascii } = SHAPES[shape];
  const name = nameLine(names.get(id)!, nameWidth, stems);
  const pieces: Piece[] = [
    piece(`${around.unicode ? glyph : ascii} `, isQuiet ? 'dim' : tone),
    ...(isQuiet ? styled(name, 'dim') : name),
  ];
  if (hostWidth > 0) pieces.push(piece(gap + fit(host, hostWidth), 'dim'));
  for (const column of columns) {
    const text = column.text(row, state, scene.view.takenMs);
    const isLow = missed && (column.key === 'tx' || column.key === 'rx');
    const style = isLow ? 'warn' : styleOf(column.key, text, row, isQuiet, scene);
    pieces.push(blank(gap.length), ...cell(column, isLow ? `~${text}` : text, style, row, around));
  }
  if (sparkWidth > 0) {
    const history = scene.agents.get(id);
    const parts = history?.parts(['tx', 'rx'], scene.view.takenMs, SPARK_SPAN_MS, sparkWidth) ?? new Float64Array();
    pieces.push(
      piece(
        ` ${sparkline(
          parts.map((value) => value / scale),
          around.unicode,
        )}`,
        isQuiet ? 'dim' : 'tx',
      ),
    );
  }
  return pieces;
}

/** True if the origin of the row gives no newer numbers. */
function isStale({ totals }: Row, { view }: Scene): boolean {
  return view.parts.some(({ host, facts }) => host === totals.host && facts.stale !== undefined);
}

function cell(
  { key, width, isText }: ScreenColumn,
  text: string,
  style: Style,
  row: Row,
  around: Surroundings,
): Piece[] {
  if (key === 'fill' && width > BAR) {
    const { fill = 0 } = row.totals;
    return [piece(`${bar(fill, BAR, around.unicode)} `, style), piece(text.padStart(width - BAR - 1), style)];
  }
  return [piece(fit(text, width, isText ? 'left' : 'right'), style)];
}

function styleOf(key: string, text: string, row: Row, isQuiet: boolean, { verdict }: Scene): Style {
  const { fill = 0, id } = row.totals;
  if (key === 'fill' && fill >= NEARLY_FULL) return fill >= 1 ? 'warnGround' : 'warn';
  if (key === 'state' && verdict.states.get(id)?.state === 'incomplete') return 'warn';
  if (key === 'state' && verdict.states.get(id)?.state === 'failing') return 'bad';
  if (text === '0' || text === '-' || text === '0%') return 'dim';
  if (key === 'errors') return 'bad';
  // Totals keep the colour of a problem only while it is one.
  if (key === 'lost') return verdict.states.get(id)?.state === 'incomplete' ? 'warn' : 'plain';
  return isQuiet ? 'dim' : 'plain';
}

/** Highest rate of any of the selected agents in the time of the sparklines; 1 without any. */
export function sparkScale({ rows, agents, view }: Scene): number {
  const since = view.takenMs - SPARK_SPAN_MS;
  const most = rows.reduce((max, { totals: { id } }) => {
    return Math.max(max, agents.get(id)?.highest(['tx', 'rx'], since) ?? 0);
  }, 0);
  return most > 0 ? most : 1;
}
