/** The table of agents: its columns by width, headings and rows. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { spanText } from '../../ground/figures/clock.js';
import { UNKNOWN } from '../../ground/figures/figure.js';
import { fit } from '../../view/figures/table.js';
import { SHAPES, STATES } from '../../view/verdict/shapes.js';
import type { StateOfAgent } from '../../view/verdict/types.js';
import { type TopColumn, columnsFor, SORT_KEYS } from '../columns.js';
import { nameAtHost, fullNameOf } from '../selection.js';
import type { TopRow } from '../tracker.js';
import { bar, sparkline } from './graph.js';
import type { TablePlace, UiState } from './keys.js';
import { blank, terminalColumns, filled, type Line, type Piece, piece, type Style, styled } from './line.js';
import { nameLine, sharedStems } from './names.js';
import type { Scene, Surroundings } from './scene.js';

const HOST_FROM_WIDTH = 100;
const MAX_HOST = 24;
const BAR_FROM_WIDTH = 120;
const BAR = 4;
const SHAPE = 2;
const MIN_NAME = 8;
const MIN_SPARK = 5;
const MAX_SPARK = 60;
const SPARK_SPAN_MS = 60_000;
const NEARLY_FULL = 0.8;

interface ScreenColumn extends Pick<TopColumn, 'id' | 'heading' | 'width'> {
  readonly text: (row: TopRow, state: StateOfAgent | undefined, nowMs: number) => string;
  readonly from: number;
  readonly isText?: boolean;
}

const STATE: ScreenColumn = {
  id: 'state',
  heading: 'STATE',
  width: 12,
  text: (_, of, nowMs) => {
    if (of === undefined) return 'old file';
    const { word } = STATES[of.state];
    return of.state === 'ended' && of.sinceMs !== undefined
      ? `${word} ${spanText(Math.max(0, nowMs - of.sinceMs))}`
      : word;
  },
  from: 120,
  isText: true,
};

export type Layout = ReturnType<typeof layoutFor>;

/** Names get the width of the longest one before the sparkline gets any. `sparkWidth`: 0 if it does not fit. */
export function layoutFor({ rows, view }: Pick<Scene, 'rows' | 'view'>, width: number, { sort, totals }: UiState) {
  const isShown = ({ id, from }: ScreenColumn): boolean => width >= from || id === sort;
  const columns = [STATE, ...columnsFor(totals).map((column) => onScreen(column, width))].filter(isShown);
  const hosts = view.parts.length > 1 && width >= HOST_FROM_WIDTH ? view.parts.map(({ host = '' }) => host) : [];
  const hostWidth = Math.min(MAX_HOST, Math.max(0, ...hosts.map(terminalColumns)));
  const gap = width >= 160 ? '  ' : ' ';
  const taken = columns.reduce((sum, column) => sum + gap.length + column.width, SHAPE);
  const rest = width - taken - (hostWidth > 0 ? hostWidth + gap.length : 0);
  const names = new Map(rows.map((row) => [row.agent.id, oneLine((hostWidth === 0 ? fullNameOf : nameAtHost)(row))]));
  const longest = Math.max(MIN_NAME, ...[...names.values()].map(terminalColumns));
  const nameWidth = Math.max(MIN_NAME, Math.min(longest, rest));
  const spark = Math.min(MAX_SPARK, rest - nameWidth - 1);
  const sparkWidth = spark >= MIN_SPARK ? spark : 0;
  return { columns, gap, hostWidth, names, nameWidth, sparkWidth, stems: sharedStems([...names.values()]) };
}

function onScreen({ about, ...column }: TopColumn, width: number): ScreenColumn {
  const hasBar = column.id === 'fill' && width >= BAR_FROM_WIDTH;
  return { ...column, from: about.top.from, width: hasBar ? column.width + BAR + 1 : column.width };
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
    ...columns.flatMap(({ id: key, heading: text, width, isText }) => {
      // The mark of a heading without room lies in the gap between the columns, so that the heading keeps its place.
      const isWide = key === state.sort && text.length >= width;
      const before = isWide ? gap.length - 1 : gap.length;
      return [blank(before), heading(key, text, isWide ? width + 1 : width, isText)];
    }),
    ...(sparkWidth > 0
      ? [
          blank(1),
          heading('rate', sparkWidth >= 20 ? 'TX+RX 60 s, one scale' : sparkWidth >= 10 ? 'TX+RX 60 s' : 'TX+RX', 0),
        ]
      : []),
  ];
}

/** Columns of the screen under each heading that sorts. */
export function headingPlaces(layout: Layout): TablePlace['headings'] {
  const { columns, gap, nameWidth, hostWidth } = layout;
  const names = SHAPE + nameWidth;
  let at = names + (hostWidth > 0 ? gap.length + hostWidth : 0);
  const places = columns.map(({ id: key, width }) => ({ key, from: at, to: (at += gap.length + width) }));
  const all = [{ key: 'agent', from: 0, to: names }, ...places, { key: 'rate', from: at, to: Infinity }];
  return all.filter(({ key }) => SORT_KEYS.includes(key));
}

/** `scale`: bytes per second of a full bar in the sparkline. */
export function rowLine(row: TopRow, scene: Scene, layout: Layout, around: Surroundings, scale: number): Line {
  const { columns, gap, names, nameWidth, hostWidth, sparkWidth, stems } = layout;
  const { id, host = '', suspect } = row.agent;
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
    const isLow = suspect && (column.id === 'tx' || column.id === 'rx');
    const style = isLow ? 'warn' : styleOf(column.id, text, row, isQuiet, scene);
    // The mark of a rate that is too low lies in the gap, so that digits keep their places.
    const [before, marked] = isLow ? [gap.length - 1, { ...column, width: column.width + 1 }] : [gap.length, column];
    pieces.push(blank(before), ...cell(marked, isLow ? `~${text}` : text, style, row, around));
  }
  if (sparkWidth > 0) {
    const history = scene.agents.get(id);
    const parts = history?.parts(['tx', 'rx'], scene.view.takenMs, SPARK_SPAN_MS, sparkWidth) ?? new Float64Array();
    pieces.push(piece(` ${sparkline(parts, scale, around.unicode)}`, isQuiet ? 'dim' : 'tx'));
  }
  return pieces;
}

/** True if the origin of the row gives no newer numbers. */
function isStale({ agent }: TopRow, { view }: Scene): boolean {
  return view.parts.some(({ host, facts }) => host === agent.host && facts.stale !== undefined);
}

function cell(column: ScreenColumn, text: string, style: Style, row: TopRow, around: Surroundings): Piece[] {
  const { id, width, isText } = column;
  if (id === 'fill' && width > BAR) {
    const { fill = 0 } = row.agent;
    return [piece(`${bar(fill, BAR, around.unicode)} `, style), piece(text.padStart(width - BAR - 1), style)];
  }
  return [piece(fit(text, width, isText ? 'left' : 'right'), style)];
}

function styleOf(key: string, text: string, row: TopRow, isQuiet: boolean, { verdict }: Scene): Style {
  const { fill = 0, id } = row.agent;
  if (key === 'fill' && fill >= NEARLY_FULL) return fill >= 1 ? 'warnGround' : 'warn';
  if (key === 'state') {
    const { tone } = STATES[verdict.states.get(id)?.state ?? 'idle'];
    if (tone === 'warn' || tone === 'bad') return tone;
  }
  if (text === '0' || text === UNKNOWN || text === '0%') return 'dim';
  if (key === 'errors') return 'bad';
  // Totals keep the colour of a problem only while it is one.
  if (key === 'lost') return verdict.states.get(id)?.state === 'incomplete' ? 'warn' : 'plain';
  return isQuiet ? 'dim' : 'plain';
}

/** Highest rate of any of the selected agents in the time of the sparklines; 1 without any. */
export function sparkScale({ rows, agents, view }: Scene): number {
  const since = view.takenMs - SPARK_SPAN_MS;
  const most = rows.reduce((max, { agent: { id } }) => {
    return Math.max(max, agents.get(id)?.highest(['tx', 'rx'], since) ?? 0);
  }, 0);
  return most > 0 ? most : 1;
}
