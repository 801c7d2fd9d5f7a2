/** One agent alone: its figures, graphs, distributions, errors, ring and place. Pure. */
import { oneLine } from '../../../one-line.js';
import { bytesFigure, countFigure, counted, figureText, spanText } from '../../figures/figure.js';
import { dateAndTime, percent } from '../../figures/formats.js';
import { SHAPES, STATES } from '../../verdict/shapes.js';
import { nameOf } from '../selection.js';
import type { Row } from '../tracker.js';
import { postTimeBars, sizeBars, type Times, transferTimeBars } from './distributions.js';
import { bar } from './graph.js';
import { agentFigures, findingLines } from './head.js';
import type { UiState } from './keys.js';
import type { Recent } from './last-minute.js';
import { blank, cutText, EMPTY, filled, type Line, type Piece, piece, spread, type Style } from './line.js';
import { agentPanels } from './panels.js';
import type { Scene, Surroundings } from './scene.js';

const TWO_COLUMNS_FROM = 110;
const PANEL = { wide: 7, narrow: 6 };
const STRIP = { wide: 2, narrow: 3 };
const FIGURES_INDENT = 2;
/** Columns of a figure in two lines. */
const FIGURE = 18;
const NEARLY_FULL = 0.8;

export interface Detail {
  /** Lines at the top of the screen. */
  readonly fixed: readonly Line[];
  /** Lines that scroll. */
  readonly lines: readonly Line[];
}

export function detailOf(row: Row, scene: Scene, state: UiState, around: Surroundings): Detail {
  const { columns, unicode } = around;
  const isWide = columns >= TWO_COLUMNS_FROM;
  const history = scene.agents.get(row.totals.id);
  const half = Math.floor(columns / 2);
  const widths = isWide ? [half, columns - half] : [columns];
  const height = isWide ? PANEL.wide : PANEL.narrow;
  const panels = history === undefined ? [] : agentPanels(history, scene.view.takenMs, state, widths, height, unicode);
  return {
    fixed: [nameLine(row, scene, around), ...stripLines(row, scene, around), EMPTY],
    lines: [...figureLines(row, columns), EMPTY, ...panels, ...blocks(row, scene, state, around, isWide)],
  };
}

function nameLine(row: Row, { rows, view, verdict }: Scene, { columns, unicode }: Surroundings): Line {
  const { id, startTimeMs } = row.totals;
  const state = verdict.states.get(id)?.state ?? 'idle';
  const { shape, tone, word } = STATES[state];
  const since =
    startTimeMs === undefined
      ? ''
      : `   since ${dateAndTime(new Date(startTimeMs))} (${spanText(Math.max(0, view.takenMs - startTimeMs))})`;
  const place = `${rows.findIndex(({ totals }) => totals.id === id) + 1} of ${rows.length}`;
  const left = [
    piece(oneLine(nameOf(row)), 'bold'),
    piece(`   ${SHAPES[shape][unicode ? 'glyph' : 'ascii']} ${word}`, tone === 'idle' ? 'dim' : tone),
    piece(since, 'dim'),
  ];
  return spread(left, [piece(place, 'dim')], columns);
}

/** The finding that concerns the agent; empty without one. */
function stripLines({ totals: { id } }: Row, { verdict }: Scene, { columns, unicode }: Surroundings): Line[] {
  const finding = verdict.findings.find(({ agents }) => agents.includes(id));
  const count = columns >= TWO_COLUMNS_FROM ? STRIP.wide : STRIP.narrow;
  return finding === undefined ? [] : findingLines(finding, '', columns, unicode, count);
}

/** The figures in one line, or in two without room. */
function figureLines(row: Row, columns: number): Line[] {
  const figures = agentFigures(row);
  const needed = figures.reduce((sum, [, width]) => sum + width, FIGURES_INDENT);
  const half = needed <= columns ? figures.length : figures.length / 2;
  return [figures.slice(0, half), figures.slice(half)]
    .filter((some) => some.length > 0)
    .map((some) => [
      blank(FIGURES_INDENT),
      ...some.map(([{ text, style }, width]) => piece(text.padEnd(half < figures.length ? FIGURE : width), style)),
    ]);
}

// --- blocks ---

/** Two columns if there is room, otherwise one. */
function blocks(row: Row, scene: Scene, state: UiState, around: Surroundings, isWide: boolean): Line[] {
  const { columns } = around;
  const half = isWide ? Math.floor(columns / 2) - 1 : columns;
  const recent = scene.lastMinute.of(row.totals, scene.view.takenMs);
  const sections = [
    transferTimeBars(timesOf('transferTimes', row, recent, state), half, around.unicode),
    postTimeBars(timesOf('postTimes', row, recent, state), half, around.unicode),
    errorLines(row, recent, half),
    sizeBars(scene.details, half, around.unicode),
    ringLines(row, scene, half, around.unicode),
    placeLines(row, scene, half),
  ].filter((lines) => lines.length > 0);
  if (!isWide) return sections.flatMap((lines) => [EMPTY, ...lines]);
  const [left, right]: [Line[], Line[]] = [[], []];
  for (const lines of sections) (left.length <= right.length ? left : right).push(EMPTY, ...lines);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => [
    ...filled(left[i] ?? EMPTY, half + 2),
    ...(right[i] ?? EMPTY),
  ]);
}

function heading(text: string): Line {
  return [piece(`  ${text}`, 'bold')];
}

function lastText({ spanMs }: Recent): string {
  return `last ${Math.round(spanMs / 1_000)} s`;
}

function timesOf(
  key: 'transferTimes' | 'postTimes',
  { totals }: Row,
  recent: Recent | undefined,
  { lastMinute }: UiState,
): Times {
  if (!lastMinute) return { counts: totals[key], since: 'all so far' };
  return { counts: recent?.[key], since: recent === undefined ? 'last minute' : lastText(recent) };
}

const ERROR_COLUMN = 12;

/** Errors are red while there are some in the last minute: all so far may be long ago. */
function errorLines({ totals }: Row, recent: Recent | undefined, width: number): Line[] {
  const { errors, errorsByStatus = {} } = totals;
  const title = 'ERRORS BY STATUS';
  const room = Math.max(title.length + 1, Math.min(26, width - 2 * ERROR_COLUMN - 2));
  const cell = (text: string, style: Style): Piece => piece(text.padStart(ERROR_COLUMN), style);
  const countCell = (count: number | undefined, style: Style): Piece =>
    cell(figureText(countFigure(count)), count === 0 || count === undefined ? 'dim' : style);
  const line = (status: string, count: number, inLast: number | undefined): Line => [
    piece(`  ${cutText(oneLine(status), room - 1).padEnd(room)}`),
    countCell(inLast, 'bad'),
    countCell(count, 'plain'),
  ];
  const heads = [cell(recent === undefined ? '' : lastText(recent), 'dim'), cell('all so far', 'dim')];
  const statuses = Object.entries(errorsByStatus).toSorted(([, a], [, b]) => b - a);
  return [
    [piece(`  ${title.padEnd(room)}`, 'bold'), ...heads],
    line('all', errors, recent?.errors),
    ...statuses.map(([status, count]) => line(status, count, recent && (recent.errorsByStatus[status] ?? 0))),
  ];
}

function ringLines({ totals }: Row, { details }: Scene, width: number, unicode: boolean): Line[] {
  const { fill, capacity, lost, lostMore } = totals;
  const { path, ring, wireVersion, events, foundFull, foundFullMs, restarts } = details ?? {};
  const lines: Line[] = [[...heading('RING'), piece(path === undefined ? '' : `  ${oneLine(path)}`, 'dim')]];
  if (fill !== undefined) {
    const style = fill >= 1 ? 'warnGround' : fill >= NEARLY_FULL ? 'warn' : 'dim';
    const of = capacity === undefined ? '' : ` of ${figureText(countFigure(capacity))} slots`;
    lines.push([
      piece('  '),
      piece(bar(fill, Math.max(8, width - 34), unicode), style),
      piece(`  ${percent(fill)}${of}`),
    ]);
  }
  const texts = [
    ring && `read position ${ring.readPos}, written ${ring.writePos}, pending ${figureText(countFigure(ring.pending))}`,
    [
      events !== undefined && `${figureText(countFigure(events))} events read`,
      wireVersion && `wire version ${wireVersion}`,
    ]
      .filter(Boolean)
      .join(', '),
    foundFull !== undefined &&
      `found full ${counted(foundFull, 'time')}${foundFullMs !== undefined && foundFullMs >= 1_000 ? `, ${spanText(foundFullMs)} at most` : ''}`,
    `${counted(lost, 'event')} lost${lostMore ? ' or more' : ''}`,
    restarts !== undefined && restarts > 0 && `${counted(restarts, 'restart')} of the agent`,
  ];
  return [
    ...lines,
    ...texts.filter((text) => typeof text === 'string' && text !== '').map((text) => textLine(text as string, width)),
  ];
}

function placeLines({ totals }: Row, { details }: Scene, width: number): Line[] {
  const { pid, host, gpus, memoryBytes, memoryApproximate } = totals;
  const { uid, rank, gpuModels, registeredBytes, attributes = {} } = details ?? {};
  const known = [
    host,
    pid !== undefined && `pid ${pid}`,
    uid !== undefined && `uid ${uid}`,
    rank !== undefined && `rank ${oneLine(rank)}`,
    gpus !== undefined && `GPU ${oneLine(gpus)}`,
    gpuModels !== undefined && gpuModels.length > 0 && oneLine([...new Set(gpuModels)].join(', ')),
  ].filter((text): text is string => typeof text === 'string');
  const texts = known.length === 0 ? [] : [known.join('  ')];
  for (const [name, value] of Object.entries(attributes)) texts.push(oneLine(`${name} ${String(value)}`));
  const lines = texts.length === 0 ? [] : [heading('WHERE'), ...texts.map((text) => textLine(text, width))];
  if (memoryBytes === undefined) return lines;
  const exact = memoryApproximate === true ? 'approximate' : 'exact';
  const ever = registeredBytes === undefined ? '' : ` · ${figureText(bytesFigure(registeredBytes))} ever`;
  const text = `${figureText(bytesFigure(memoryBytes))} registered, ${exact}${ever}`;
  return [...lines, heading('MEMORY'), textLine(text, width)];
}

function textLine(text: string, width: number): Line {
  return [piece(`  ${cutText(text, Math.max(0, width - 2))}`)];
}
