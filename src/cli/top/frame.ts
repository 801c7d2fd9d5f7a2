/** One screen of top as lines: exactly as many as the terminal has, and no wider. Pure. */
import { globPattern } from '../../mapping/allowlist.js';
import { oneLine } from '../../one-line.js';
import { PACKAGE_VERSION } from '../../package.js';
import { amount, timeOfDay } from '../figures/formats.js';
import { cut, fit, type Side, widthOf } from '../figures/table.js';
import { rateTexts } from '../figures/totals.js';
import { columnsFor, sorted } from './columns.js';
import { HELP, type Scrolling, type UiState } from './keys.js';
import { overall, type Row, type View } from './tracker.js';

export type Style = 'plain' | 'bold' | 'dim' | 'inverse' | 'warn' | 'bad';
export interface Piece {
  readonly text: string;
  readonly style: Style;
}
type Line = readonly Piece[];

export interface Surroundings {
  readonly columns: number;
  readonly rows: number;
  /** Origin of the numbers: directories, or an address. */
  readonly origin: string;
  /** False if bars are made of ASCII. */
  readonly unicode: boolean;
}

const HEADER_LINES = 4;
const FOOTER_LINES = 1;
const KEYS = 'q quit  s sort  r reverse  / filter  p pause  t totals  h help';

export function frame(view: View, state: UiState, surroundings: Surroundings) {
  const { columns, rows } = surroundings;
  const height = Math.max(0, rows - HEADER_LINES - FOOTER_LINES);
  const visible = shown(view.rows, state);
  const most = Math.max(0, visible.length - height);
  const offset = Math.min(state.offset, most);
  const last = Math.min(offset + height, visible.length);
  const layout = layoutFor(columns, visible, state);
  const body = state.help
    ? HELP.map((text) => plain(text))
    : visible.slice(offset, last).map((row) => rowLine(row, layout, surroundings));
  if (!state.help && visible.length === 0) body.push([], plain(`  ${emptyNote(view, state, surroundings)}`));
  const lines = [
    titleLine(view, state, surroundings),
    totalsLine(visible),
    noteLine(view),
    state.help ? [] : headingLine(layout, state),
    ...Array.from({ length: height }, (_, i) => body[i] ?? []),
    footerLine(state, columns, visible.length === 0 ? 'none' : `${offset + 1}-${last} of ${visible.length}`),
  ];
  const scrolling: Scrolling = { height, most };
  return { lines: lines.slice(0, rows).map((line) => narrowed(line, columns)), scrolling };
}

/** Returns the rows that the state selects, in its order. */
export function shown(rows: readonly Row[], state: UiState): Row[] {
  const matches = matcher(state.filter);
  const wanted = rows.filter((row) => (state.all || !row.totals.unused) && matches(nameOf(row)));
  return sorted(wanted, state.sort, state.reverse, columnsFor(state.totals));
}

function matcher(filter: string): (name: string) => boolean {
  if (/[*?]/.test(filter)) {
    const pattern = globPattern(filter);
    return (name) => pattern.test(name);
  }
  const part = filter.toLowerCase();
  return (name) => name.toLowerCase().includes(part);
}

export function nameOf({ totals: { agent, place } }: Row): string {
  return place === undefined ? agent : `${agent} ${place}`;
}

// --- header and footer ---

function titleLine({ rows, takenMs }: View, state: UiState, { columns, origin }: Surroundings): Line {
  const used = rows.filter(({ totals }) => !totals.unused);
  const count = (state: Row['state']): number => used.filter((row) => row.state === state).length;
  const old = rows.length - used.length;
  const counts = `${count('live')} live, ${count('idle')} idle, ${count('dead')} dead`;
  const end = ` · ${counts}${old > 0 ? ` (+${old} old)` : ''} · ${state.paused ? 'PAUSED' : timeOfDay(new Date(takenMs))}`;
  const begin = `nixl-otel ${PACKAGE_VERSION} · `;
  const room = Math.max(8, columns - widthOf(begin) - widthOf(end));
  return [{ text: begin + cut(oneLine(origin), room) + end, style: 'bold' }];
}

function totalsLine(rows: readonly Row[]): Line {
  const { lost, lostMore, ...rates } = overall(rows);
  if (rates.tx === undefined) return [];
  return plain([...rateTexts(rates), `${amount(lost)} lost${lostMore ? ' or more' : ''}`].join(' · '));
}

function noteLine({ notes: [first, ...more] }: View): Line {
  if (first === undefined) return [];
  return [{ text: oneLine(first) + (more.length > 0 ? ` (+${more.length} more)` : ''), style: 'warn' }];
}

function emptyNote({ rows }: View, state: UiState, { origin }: Surroundings): string {
  if (rows.length === 0) return `No agents yet in ${oneLine(origin)}. Press h for the settings that agents need.`;
  if (state.filter !== '') return `No agent matches ${oneLine(state.filter)}`;
  return `${rows.length} old files without a writer. Press a to show them.`;
}

function footerLine({ typing, filter }: UiState, columns: number, place: string): Line {
  if (typing) return plain(`filter: ${oneLine(filter)}_   (Enter keeps it, Esc drops it)`);
  const right = `${filter === '' ? '' : `filter: ${oneLine(filter)}  `}${place}`;
  const left = cut(KEYS, Math.max(0, columns - widthOf(right) - 2));
  return [{ text: left + ' '.repeat(Math.max(2, columns - widthOf(left) - widthOf(right))) + right, style: 'dim' }];
}

// --- the table ---

const WIDE = 96;
const MIN_NAME = 8;
const MIN_SPARK = 8;
const MAX_SPARK = 40;

/**
 * Gives names the width of the longest one. Its limit is 60 % of the columns beside the numbers, or more if the sparkline
 * has its largest width. `sparkWidth`: 0 if a sparkline does not fit.
 */
function layoutFor(width: number, rows: readonly Row[], { sort, totals }: UiState) {
  const columns = columnsFor(totals).filter(({ key, fromWidth = 0 }) => width >= fromWidth || key === sort);
  const gap = width >= WIDE ? '  ' : ' ';
  const numbers = columns.reduce((sum, column) => sum + gap.length + column.width, 0);
  const rest = width - numbers - gap.length;
  const longest = Math.max(MIN_NAME, ...rows.map((row) => widthOf(oneLine(nameOf(row)))));
  const room = Math.max(Math.floor(rest * 0.6), rest - MAX_SPARK, MIN_NAME);
  const nameWidth = Math.min(longest, room);
  const sparkWidth = Math.min(rest - nameWidth, MAX_SPARK);
  if (sparkWidth >= MIN_SPARK) return { columns, gap, nameWidth, sparkWidth };
  return { columns, gap, nameWidth: Math.max(MIN_NAME, Math.min(longest, width - numbers)), sparkWidth: 0 };
}

type Layout = ReturnType<typeof layoutFor>;

function headingLine({ columns, gap, nameWidth, sparkWidth }: Layout, { sort, reverse }: UiState): Line {
  const mark = reverse ? '^' : 'v';
  const heading = (key: string, text: string, width: number, side: Side = 'right'): Piece => {
    // The mark must not push a heading out of its column.
    const marked = key === sort && text.length < width ? text + mark : text;
    return { text: fit(marked, width, side), style: key === sort ? 'inverse' : 'bold' };
  };
  const blank: Piece = { text: gap, style: 'plain' };
  return [
    heading('agent', 'AGENT', nameWidth, 'left'),
    ...columns.flatMap(({ key, heading: text, width }) => [blank, heading(key, text, width)]),
    ...(sparkWidth > 0 ? [blank, heading('rate', 'TX+RX', sparkWidth)] : []),
  ];
}

function rowLine(row: Row, { columns, gap, nameWidth, sparkWidth }: Layout, { unicode }: Surroundings): Line {
  const style: Style = row.state === 'live' ? 'plain' : 'dim';
  const pieces: Piece[] = [{ text: fit(nameOf(row), nameWidth), style }];
  for (const { text, width, tone } of columns) {
    const special = tone?.(row) ?? 'plain';
    pieces.push({ text: gap + fit(text(row), width, 'right'), style: special === 'plain' ? style : special });
  }
  if (sparkWidth > 0) pieces.push({ text: gap + sparkline(row.history, sparkWidth, unicode), style });
  return pieces;
}

function plain(text: string): Line {
  return [{ text, style: 'plain' }];
}

/** Cuts a line at the width of the terminal. */
function narrowed(line: Line, columns: number): Line {
  let left = columns;
  return line.flatMap(({ text, style }) => {
    const piece = cut(text, left);
    left -= widthOf(piece);
    return piece === '' ? [] : [{ text: piece, style }];
  });
}

const BARS = ' ▁▂▃▄▅▆▇█';
const ASCII_BARS = ' .:-=+*#@';

/** Draws the last values, one column each, against the largest of them. Only 0 is a blank. */
export function sparkline(values: readonly number[], columns: number, unicode: boolean): string {
  const bars = unicode ? BARS : ASCII_BARS;
  const shown = values.slice(-columns);
  const most = Math.max(...shown, 0);
  const line = shown.map((value) => {
    if (value <= 0 || most <= 0) return bars[0]!;
    return bars[Math.max(1, Math.ceil((value / most) * (bars.length - 1)))]!;
  });
  return line.join('').padStart(columns);
}
