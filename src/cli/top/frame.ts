/** One screen of top: numbers in, lines out, exactly as many and as wide as the terminal has room for. Pure. */
import { globPattern } from '../../mapping/index.js';
import { PACKAGE_VERSION } from '../../package.js';
import { harmless } from '../process/output.js';
import { amount, bytes } from '../figures/rates.js';
import { type Column, shownColumns, sorted, type SortKey } from './columns.js';
import { HELP } from './help.js';
import type { Scrolling, UiState } from './keys.js';
import { cut, fit, sparkline, widthOf } from './text.js';
import { overall, type Row, type View } from './tracker.js';

export type Style = 'plain' | 'bold' | 'dim' | 'inverse' | 'warn' | 'bad';
export interface Piece {
  readonly text: string;
  readonly style: Style;
}
export type Line = readonly Piece[];

export interface Surroundings {
  readonly columns: number;
  readonly rows: number;
  /** Of the numbers: directories, or an address. */
  readonly source: string;
  /** Bars of eight heights, or what every terminal can show. */
  readonly unicode: boolean;
}

export interface Frame {
  readonly lines: readonly Line[];
  readonly scrolling: Scrolling;
}

const HEADER_LINES = 4;
const FOOTER_LINES = 1;
const KEYS = 'q quit  s sort  r reverse  / filter  p pause  t totals  h help';

export function frame(view: View, state: UiState, surroundings: Surroundings): Frame {
  const { columns, rows: height } = surroundings;
  const page = Math.max(0, height - HEADER_LINES - FOOTER_LINES);
  const visible = shown(view.rows, state);
  const most = Math.max(0, visible.length - page);
  const offset = Math.min(state.offset, most);
  const layout = layoutFor(columns, visible, state.totals);
  const body = state.help
    ? HELP.map((text) => plain(text))
    : visible.slice(offset, offset + page).map((row) => rowLine(row, layout, surroundings));
  if (!state.help && visible.length === 0) body.push([], plain(`  ${nothingToShow(view, state, surroundings)}`));
  const lines = [
    titleLine(view, state, surroundings),
    totalsLine(visible),
    noteLine(view),
    state.help ? [] : headingLine(layout, state),
    ...Array.from({ length: page }, (_, i) => body[i] ?? []),
    footerLine(state, columns, {
      first: offset + 1,
      last: Math.min(offset + page, visible.length),
      of: visible.length,
    }),
  ];
  return { lines: lines.slice(0, height).map((line) => narrowed(line, columns)), scrolling: { page, most } };
}

/** The rows that are asked for, in order. */
export function shown(rows: readonly Row[], state: UiState): Row[] {
  const matches = matcher(state.filter);
  const wanted = rows.filter((row) => (state.all || !row.totals.unused) && matches(nameOf(row)));
  return sorted(wanted, state.sort, state.reverse, shownColumns(state.totals));
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

function titleLine({ rows, takenMs }: View, state: UiState, { columns, source }: Surroundings): Line {
  const used = rows.filter(({ totals }) => !totals.unused);
  const count = (state: Row['state']): number => used.filter((row) => row.state === state).length;
  const old = rows.length - used.length;
  const counts = `${count('live')} live, ${count('idle')} idle, ${count('dead')} dead`;
  const end = ` · ${counts}${old > 0 ? ` (+${old} old)` : ''} · ${state.paused ? 'PAUSED' : clock(takenMs)}`;
  const begin = `nixl-otel ${PACKAGE_VERSION} · `;
  const room = Math.max(8, columns - widthOf(begin) - widthOf(end));
  return [{ text: begin + cut(harmless(source), room) + end, style: 'bold' }];
}

/** Local time. */
function clock(ms: number): string {
  const date = new Date(ms);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
}

function totalsLine(rows: readonly Row[]): Line {
  const { tx, rx, requests, errors, lost, lostMore } = overall(rows);
  if (tx === undefined) return [];
  const parts = [
    `tx ${bytes(tx)}/s`,
    `rx ${bytes(rx ?? 0)}/s`,
    `${amount(requests ?? 0)} req/s`,
    `${amount(errors ?? 0)} errors/s`,
    `${amount(lost)} lost${lostMore ? ' or more' : ''}`,
  ];
  return plain(parts.join(' · '));
}

function noteLine({ notes: [first, ...more] }: View): Line {
  if (first === undefined) return [];
  return [{ text: harmless(first) + (more.length > 0 ? ` (+${more.length} more)` : ''), style: 'warn' }];
}

function nothingToShow({ rows }: View, state: UiState, { source }: Surroundings): string {
  if (rows.length === 0) return `No agents yet in ${harmless(source)}. h says what agents need to write rings.`;
  if (state.filter !== '') return `No agent matches ${harmless(state.filter)}`;
  return `${rows.length} old files, and nobody writes. a shows them.`;
}

function footerLine(
  { typing, filter }: UiState,
  columns: number,
  { first, last, of }: { first: number; last: number; of: number },
): Line {
  if (typing) return plain(`filter: ${harmless(filter)}_   (Enter keeps it, Esc drops it)`);
  const right = `${filter === '' ? '' : `filter: ${harmless(filter)}  `}${of === 0 ? 'none' : `${first}-${last} of ${of}`}`;
  const left = cut(KEYS, Math.max(0, columns - widthOf(right) - 2));
  return [{ text: left + ' '.repeat(Math.max(2, columns - widthOf(left) - widthOf(right))) + right, style: 'dim' }];
}

// --- the table ---

interface Layout {
  readonly columns: readonly Column[];
  readonly gap: string;
  readonly nameWidth: number;
  /** 0: there is no room for it. */
  readonly sparkWidth: number;
}

const WIDE = 96;
const MIN_NAME = 8;
const MIN_SPARK = 8;
const MAX_SPARK = 40;

/** Names get what they need, or at least 60 % of what the numbers leave. */
function layoutFor(width: number, rows: readonly Row[], totals: boolean): Layout {
  const columns = shownColumns(totals);
  const gap = width >= WIDE ? '  ' : ' ';
  const numbers = columns.reduce((sum, column) => sum + gap.length + column.width, 0);
  const rest = width - numbers - gap.length;
  const longest = Math.max(MIN_NAME, ...rows.map((row) => widthOf(harmless(nameOf(row)))));
  const room = Math.max(Math.floor(rest * 0.6), rest - MAX_SPARK, MIN_NAME);
  const nameWidth = Math.min(longest, room);
  const sparkWidth = Math.min(rest - nameWidth, MAX_SPARK);
  if (sparkWidth >= MIN_SPARK) return { columns, gap, nameWidth, sparkWidth };
  return { columns, gap, nameWidth: Math.max(MIN_NAME, Math.min(longest, width - numbers)), sparkWidth: 0 };
}

function headingLine({ columns, gap, nameWidth, sparkWidth }: Layout, { sort, reverse }: UiState): Line {
  const mark = reverse ? '^' : 'v';
  // The mark must not push a heading out of its column.
  const heading = (key: SortKey, text: string, width: number): string =>
    key === sort && text.length < width ? text + mark : text;
  const style = (key: SortKey): Style => (key === sort ? 'inverse' : 'bold');
  const pieces: Piece[] = [{ text: fit(heading('agent', 'AGENT', nameWidth), nameWidth), style: style('agent') }];
  for (const { key, heading: text, width } of columns) {
    pieces.push(
      { text: gap, style: 'plain' },
      { text: fit(heading(key, text, width), width, 'right'), style: style(key) },
    );
  }
  if (sparkWidth > 0) {
    pieces.push({ text: gap, style: 'plain' });
    pieces.push({ text: fit(heading('rate', 'TX+RX', sparkWidth), sparkWidth, 'right'), style: style('rate') });
  }
  return pieces;
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

/** A terminal that is too narrow shows the beginning. */
function narrowed(line: Line, columns: number): Line {
  let left = columns;
  return line.flatMap(({ text, style }) => {
    const piece = cut(text, left);
    left -= widthOf(piece);
    return piece === '' ? [] : [{ text: piece, style }];
  });
}
