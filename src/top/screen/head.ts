/** The head of the screen: title, verdict, graphs of all agents, and their figures in a line. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { PACKAGE_VERSION } from '../../ground/package.js';
import { intervalText, timeOfDay } from '../../ground/figures/clock.js';
import { bytesRateText, numberText, timeText } from '../../ground/figures/figure.js';
import { SHAPES, STATES } from '../../view/verdict/shapes.js';
import type { AgentState } from '../../view/model/agent-model.js';
import type { Finding } from '../../view/verdict/types.js';
import { measuresOf } from '../points.js';
import { overall, type TopRow } from '../tracker.js';
import type { UiState } from './keys.js';
import { terminalColumns, cutText, EMPTY, type Line, type Piece, piece, edgeToEdge, type Style } from './line.js';
import { cutMiddle } from '../../view/figures/cut-middle.js';
import { compactGraphs, type PanelKind, panelRow } from './panels.js';
import type { Scene, Surroundings } from './scene.js';
import { topFiveLines } from './top-five.js';

/** Smallest screen whose graphs have frames and whose verdict has two lines. */
const WIDE = { columns: 110, rows: 30 };
const TWO_STRIP_LINES_FROM = 24;
/** Further lines of the verdict, where the table leaves them. */
const MORE_STRIP_LINES = 3;
/** Heading and footer of the table, and its lines without an agent. */
const TABLE_FRAME = 2;
const LINES_WITHOUT_AGENTS = 2;
/** Fewer rows have no graphs. */
const GRAPHS_FROM_ROWS = 20;
const COMPACT_GRAPH = 3;
const PANEL = { least: 8, most: 16 };
const THREE_PANELS_FROM = 160;
const FOUR_PANELS_FROM = { columns: 200, rows: 50 };

export function headLines(scene: Scene, state: UiState, around: Surroundings): Line[] {
  const { rows } = around;
  const least = rows < TWO_STRIP_LINES_FROM ? 1 : 2;
  const rest = restOfHead(scene, state, around);
  // The rest of the advice takes lines that the table leaves empty.
  const table = TABLE_FRAME + Math.max(scene.rows.length, LINES_WITHOUT_AGENTS);
  const empty = Math.max(0, rows - 1 - least - rest.length - table);
  const strip = stripLines(scene, state, around, least + Math.min(empty, MORE_STRIP_LINES));
  while (strip.length > least && strip.at(-1) === EMPTY) strip.pop();
  return [titleLine(scene, state, around), ...strip, ...rest];
}

function restOfHead(scene: Scene, state: UiState, around: Surroundings): Line[] {
  const { columns, rows } = around;
  if (state.topFive && rows >= GRAPHS_FROM_ROWS) {
    return [...topFiveLines(scene, state, around), figuresLine(scene, state, true)];
  }
  if (columns >= WIDE.columns && rows >= WIDE.rows) {
    const panels = panelRow(panelsFor(around), scene, state, around, panelHeight(scene, around));
    return isSelection(state) ? [...panels, figuresLine(scene, state, false)] : panels;
  }
  const graphs = rows >= GRAPHS_FROM_ROWS ? compactGraphs(scene, state, around, COMPACT_GRAPH) : [];
  return [...graphs, figuresLine(scene, state, rows < GRAPHS_FROM_ROWS)];
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

const STATES_IN_TITLE: readonly AgentState[] = ['live', 'idle', 'unknown', 'incomplete', 'failing', 'slow', 'ended'];

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
  const old = view.rows.filter(({ agent }) => agent.unused).length;
  if (old > 0) counts.push(piece(withWords ? `+${old} old  ` : `+${old} `, 'dim'));
  const mode = state.paused ? piece('PAUSED', 'warnGround') : piece(frozen ? 'frozen' : '', 'bold');
  const interval = ` ${intervalText(state.intervalMs)}`;
  const right = [...counts, mode, piece(`${interval}  ${timeOfDay(view.takenMs)}`, 'dim')];
  const place = view.parts.length > 1 ? `${view.parts.length} hosts` : oneLine(origin);
  const begin = `nixl-otel ${PACKAGE_VERSION} · `;
  const room = columns - terminalColumns(begin) - right.reduce((sum, { text }) => sum + terminalColumns(text), 0) - 1;
  return edgeToEdge([piece(begin, 'bold'), piece(cutMiddle(place, Math.max(8, room)), 'dim')], right, columns);
}

// --- verdict ---

const TEXT_STYLES = { ok: 'ok', info: 'info', warn: 'warnGround', bad: 'bad' } as const;
/** These findings concern all numbers. */
const ON_RED: ReadonlySet<Finding['kind']> = new Set(['stale', 'receiver']);

/** Returns the verdict in one or two lines. Key n shows the next finding; without an alarm, notes follow the verdict. */
function stripLines({ verdict }: Scene, state: UiState, { columns, unicode }: Surroundings, count: number): Line[] {
  const { findings, first } = verdict;
  const shown = findings.includes(first) ? findings : [first, ...findings];
  const at = state.finding % shown.length;
  const right = shown.length > 1 ? `${at + 1}/${shown.length} n` : '';
  return findingLines(shown[at]!, right, columns, unicode, count);
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
  const room = columns - (right === '' ? 0 : terminalColumns(right) + 1);
  const isApart = count > 1 && terminalColumns(begin) < room;
  const texts = isApart
    ? [`${begin}.`, ...wrapped(end, columns - 2, columns - 2, count - 1)]
    : wrapped([begin, end].filter((text) => text !== '').join('. '), room, columns - 2, count);
  return Array.from({ length: count }, (_, i) => {
    if (texts[i] === undefined || texts[i] === '') return EMPTY;
    const text = i === 0 ? texts[i] : `  ${texts[i]}`;
    const last = i === 0 ? right : '';
    const cut = cutText(text, Math.max(0, i === 0 ? room : columns));
    return [piece(cut + ' '.repeat(Math.max(0, columns - terminalColumns(cut) - terminalColumns(last))) + last, style)];
  });
}

/** Divides a text between words into at most `count` lines. The last one has the rest, whatever its length. */
function wrapped(text: string, first: number, others: number, count: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < count - 1) {
    const room = lines.length === 0 ? first : others;
    const at = terminalColumns(rest) <= room ? -1 : rest.lastIndexOf(' ', room);
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
  const counted = selected ? rows : view.rows.filter(({ agent }) => !agent.unused);
  const { lost, lostMore, ...rates } = overall(counted);
  const { tx, rx, requests, errors } = measuresOf(rates);
  if (tx === undefined) return EMPTY;
  const parts: Piece[] = [];
  const add = (text: string, style: Style): void =>
    void parts.push(piece(parts.length > 0 ? ' · ' : ' ', 'dim'), piece(text, style));
  if (selected) add(`${rows.length} of ${view.rows.length} agents`, 'bold');
  if (selected || withThroughput) {
    add(`tx ${bytesRateText(tx)}`, 'tx');
    add(`rx ${bytesRateText(rx)}`, 'rx');
  }
  add(`${numberText(requests)} req/s`, 'plain');
  if (!selected && times !== undefined) {
    const [name, us, style] = withThroughput
      ? (['p99', times.p99, 'p99'] as const)
      : (['p50', times.p50, 'plain'] as const);
    add(`${name} ${timeText(us)}`, style);
  }
  add(`${numberText(errors)} errors/s`, (errors ?? 0) > 0 ? 'bad' : 'plain');
  const lostStyle: Style = verdict.counts.incomplete > 0 && (lost > 0 || lostMore) ? 'warn' : 'plain';
  add(`${numberText(lost)} lost${lostMore ? ' or more' : ''}`, lostStyle);
  return parts;
}

/** Figures of one agent, each with the columns that its longest usual text takes. */
export function agentFigures(row: TopRow): [figure: Piece, columns: number][] {
  const { transferTimeUs, postTimeUs } = row;
  const { tx, rx, requests, errors } = measuresOf(row);
  return [
    [piece(`tx ${bytesRateText(tx)}`, 'tx'), 15],
    [piece(`rx ${bytesRateText(rx)}`, 'rx'), 15],
    [piece(`${numberText(requests)} req/s`), 15],
    [piece(`p50 ${timeText(transferTimeUs?.p50)}`), 14],
    [piece(`p90 ${timeText(transferTimeUs?.p90)}`), 14],
    [piece(`p99 ${timeText(transferTimeUs?.p99)}`, 'p99'), 14],
    [piece(`post p99 ${timeText(postTimeUs?.p99)}`), 18],
    [piece(`${numberText(errors)} errors/s`, (errors ?? 0) > 0 ? 'bad' : 'plain'), 13],
  ];
}
