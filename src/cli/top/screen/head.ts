/** The head of the screen: title, verdict, graphs of all agents, and their figures in a line. Pure. */
import { oneLine } from '../../../one-line.js';
import { PACKAGE_VERSION } from '../../../package.js';
import { bytesRateFigure, countFigure, figureText, rateFigure, timeFigure } from '../../figures/figure.js';
import { timeOfDay } from '../../figures/formats.js';
import { SHAPES, STATES } from '../../verdict/shapes.js';
import type { AgentState, Finding } from '../../verdict/types.js';
import { overall, type Row } from '../tracker.js';
import type { UiState } from './keys.js';
import { columnsOf, cutText, EMPTY, type Line, type Piece, piece, spread, type Style } from './line.js';
import { cutMiddle } from '../../figures/cut-middle.js';
import { compactGraphs, type PanelKind, panelRow } from './panels.js';
import type { Scene, Surroundings } from './scene.js';
import { topFiveLines } from './top-five.js';

/** Smallest screen whose graphs have frames and whose verdict has two lines. */
const WIDE = { columns: 110, rows: 30 };
const TWO_STRIP_LINES_FROM = 24;
/** Fewer rows have no graphs. */
const GRAPHS_FROM_ROWS = 20;
const COMPACT_GRAPH = 3;
const PANEL = { least: 8, most: 16 };
const THREE_PANELS_FROM = 160;
const FOUR_PANELS_FROM = { columns: 200, rows: 50 };

export function headLines(scene: Scene, state: UiState, around: Surroundings): Line[] {
  const { columns, rows } = around;
  const isWide = columns >= WIDE.columns && rows >= WIDE.rows;
  const lines = [
    titleLine(scene, state, around),
    ...stripLines(scene, state, around, rows < TWO_STRIP_LINES_FROM ? 1 : 2),
  ];
  if (state.topFive && rows >= GRAPHS_FROM_ROWS) {
    return [...lines, ...topFiveLines(scene, state, around), figuresLine(scene, state, true)];
  }
  if (isWide) {
    lines.push(...panelRow(panelsFor(around), scene, state, around, panelHeight(scene, around)));
    return isSelection(state) ? [...lines, figuresLine(scene, state, false)] : lines;
  }
  if (rows >= GRAPHS_FROM_ROWS) lines.push(...compactGraphs(scene, state, around, COMPACT_GRAPH));
  return [...lines, figuresLine(scene, state, rows < GRAPHS_FROM_ROWS)];
}

function panelsFor({ columns, rows }: Surroundings): PanelKind[] {
  const kinds: PanelKind[] = ['throughput', 'times'];
  if (columns >= THREE_PANELS_FROM) kinds.push('requests');
  if (columns >= FOUR_PANELS_FROM.columns && rows >= FOUR_PANELS_FROM.rows) kinds.push('errors');
  return kinds;
}

/** With few agents, the graphs take the lines that the table leaves. */
function panelHeight({ rows: agents }: Scene, { rows }: Surroundings): number {
  const others = 5;
  return Math.max(PANEL.least, Math.min(PANEL.most, rows - others - agents.length));
}

// --- title ---

const STATES_IN_TITLE: readonly AgentState[] = ['live', 'idle', 'incomplete', 'failing', 'ended'];

function titleLine(scene: Scene, state: UiState, { columns, origin, unicode }: Surroundings): Line {
  const { view, verdict, frozen } = scene;
  const withWords = columns >= WIDE.columns;
  const counts = STATES_IN_TITLE.flatMap((name): Piece[] => {
    const { shape, tone, word } = STATES[name];
    const count = verdict.counts[name];
    if (count === 0) return [];
    const text = `${count} ${SHAPES[shape][unicode ? 'glyph' : 'ascii']}`;
    return [piece(withWords ? `${text} ${word}  ` : `${text.replace(' ', '')} `, tone === 'idle' ? 'dim' : tone)];
  });
  const old = view.rows.filter(({ totals }) => totals.unused).length;
  if (old > 0) counts.push(piece(withWords ? `+${old} old  ` : `+${old} `, 'dim'));
  const mode = state.paused ? piece('PAUSED', 'warnGround') : piece(frozen ? 'frozen' : '', 'bold');
  const interval = ` ${intervalText(state.intervalMs)}`;
  const right = [...counts, mode, piece(`${interval}  ${timeOfDay(new Date(view.takenMs))}`, 'dim')];
  const place = view.parts.length > 1 ? `${view.parts.length} hosts` : oneLine(origin);
  const begin = `nixl-otel ${PACKAGE_VERSION} · `;
  const room = columns - columnsOf(begin) - right.reduce((sum, { text }) => sum + columnsOf(text), 0) - 1;
  return spread([piece(begin, 'bold'), piece(cutMiddle(place, Math.max(8, room)), 'dim')], right, columns);
}

export function intervalText(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`;
}

// --- verdict ---

const TEXT_STYLES = { ok: 'ok', info: 'info', warn: 'warnGround', bad: 'bad' } as const;
/** These findings concern all numbers. */
const ON_RED: ReadonlySet<Finding['kind']> = new Set(['stale', 'receiver']);

/** Returns the verdict in one or two lines. With several findings, key n shows the next one. */
function stripLines({ verdict }: Scene, state: UiState, { columns, unicode }: Surroundings, count: number): Line[] {
  const { findings, first } = verdict;
  const at = findings.length === 0 ? 0 : state.finding % findings.length;
  const finding = findings[at] ?? first;
  const right = findings.length > 1 ? `${at + 1}/${findings.length} n` : '';
  return findingLines(finding, right, columns, unicode, count);
}

/** Returns a finding in `count` lines. `right`: text at the right edge of the first one. */
export function findingLines(
  { kind, tone, shape, word, sentence, advice }: Finding,
  right: string,
  columns: number,
  unicode: boolean,
  count: number,
): Line[] {
  const style: Style = ON_RED.has(kind) ? 'badGround' : TEXT_STYLES[tone];
  const begin = `${SHAPES[shape][unicode ? 'glyph' : 'ascii']} ${word.toUpperCase()}  ${sentence}`;
  const end = advice === undefined ? '' : advice;
  const room = columns - (right === '' ? 0 : columnsOf(right) + 1);
  const isApart = count > 1 && columnsOf(begin) < room;
  const texts = isApart
    ? [`${begin}.`, ...wrapped(end, columns - 2, columns - 2, count - 1)]
    : wrapped([begin, end].filter((text) => text !== '').join('. '), room, columns - 2, count);
  return Array.from({ length: count }, (_, i) => {
    if (texts[i] === undefined || texts[i] === '') return EMPTY;
    const text = i === 0 ? texts[i] : `  ${texts[i]}`;
    const last = i === 0 ? right : '';
    const cut = cutText(text, Math.max(0, i === 0 ? room : columns));
    return [piece(cut + ' '.repeat(Math.max(0, columns - columnsOf(cut) - columnsOf(last))) + last, style)];
  });
}

/** Divides a text between words into at most `count` lines. The last one has the rest, whatever its length. */
function wrapped(text: string, first: number, others: number, count: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < count - 1) {
    const room = lines.length === 0 ? first : others;
    const at = columnsOf(rest) <= room ? -1 : rest.lastIndexOf(' ', room);
    if (at <= 0) break;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at + 1);
  }
  return [...lines, rest];
}

// --- figures ---

function isSelection({ filter, problemsOnly }: UiState): boolean {
  return filter !== '' || problemsOnly;
}

function figuresLine(scene: Scene, state: UiState, withThroughput: boolean): Line {
  const { view, rows, times, verdict } = scene;
  const selected = isSelection(state);
  const counted = selected ? rows : view.rows.filter(({ totals }) => !totals.unused);
  const { tx, rx, requests, errors, lost, lostMore } = overall(counted);
  if (tx === undefined) return EMPTY;
  const parts: Piece[] = [];
  const add = (text: string, style: Style): void =>
    void parts.push(piece(parts.length > 0 ? ' · ' : ' ', 'dim'), piece(text, style));
  if (selected) add(`${rows.length} of ${view.rows.length} agents`, 'bold');
  if (selected || withThroughput) {
    add(`tx ${figureText(bytesRateFigure(tx))}`, 'tx');
    add(`rx ${figureText(bytesRateFigure(rx))}`, 'rx');
  }
  add(`${figureText(rateFigure(requests))} req/s`, 'plain');
  if (!selected && times !== undefined) {
    const [name, { value }, style] = withThroughput
      ? (['p99', times.p99, 'p99'] as const)
      : (['p50', times.p50, 'plain'] as const);
    add(`${name} ${figureText(timeFigure(value))}`, style);
  }
  add(`${figureText(rateFigure(errors))} errors/s`, (errors ?? 0) > 0 ? 'bad' : 'plain');
  const lostStyle: Style = verdict.counts.incomplete > 0 && (lost > 0 || lostMore) ? 'warn' : 'plain';
  add(`${figureText(countFigure(lost))} lost${lostMore ? ' or more' : ''}`, lostStyle);
  return parts;
}

/** Figures of one agent, each with the columns that its longest usual text takes. */
export function agentFigures({
  tx,
  rx,
  requests,
  errors,
  transferTime,
  postTime,
}: Row): [figure: Piece, columns: number][] {
  const time = (us: number | undefined): string => figureText(timeFigure(us));
  return [
    [piece(`tx ${figureText(bytesRateFigure(tx))}`, 'tx'), 15],
    [piece(`rx ${figureText(bytesRateFigure(rx))}`, 'rx'), 15],
    [piece(`${figureText(rateFigure(requests))} req/s`), 15],
    [piece(`p50 ${time(transferTime?.p50.value)}`), 14],
    [piece(`p90 ${time(transferTime?.p90.value)}`), 14],
    [piece(`p99 ${time(transferTime?.p99.value)}`, 'p99'), 14],
    [piece(`post p99 ${time(postTime?.p99.value)}`), 18],
    [piece(`${figureText(rateFigure(errors))} errors/s`, (errors ?? 0) > 0 ? 'bad' : 'plain'), 13],
  ];
}
