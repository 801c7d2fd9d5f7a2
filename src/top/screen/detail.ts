/** One agent alone: its figures, graphs, distributions, errors, ring and place. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { dateAndTime, spanText } from '../../ground/figures/clock.js';
import { bytesText, numberText, percent, plural, times } from '../../ground/figures/figure.js';
import { SHAPES, STATES } from '../../view/verdict/shapes.js';
import { explainedWay, type Way } from '../../way/way.js';
import { fullNameOf } from '../selection.js';
import { errorsOf, mayHaveLostMore } from '../../view/model/agent-model.js';
import { errorsByStatus } from '../sampler.js';
import type { TopRow } from '../tracker.js';
import { sizeBars, timeBars, type Times } from './distributions.js';
import { bar } from './graph.js';
import { agentFigures, findingLines } from './head.js';
import type { UiState } from './keys.js';
import type { Recent } from './last-minute.js';
import { blank, cutText, EMPTY, filled, type Line, type Piece, piece, edgeToEdge, type Style } from './line.js';
import { agentPanels } from './panels.js';
import type { Scene, Surroundings } from './scene.js';
import { sizeClassLines } from './size-lines.js';

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

export function detailOf(row: TopRow, scene: Scene, state: UiState, around: Surroundings): Detail {
  const { columns, unicode } = around;
  const isWide = columns >= TWO_COLUMNS_FROM;
  const history = scene.agents.get(row.agent.id);
  const half = Math.floor(columns / 2);
  const widths = isWide ? [half, columns - half] : [columns];
  const height = isWide ? PANEL.wide : PANEL.narrow;
  const panels = history === undefined ? [] : agentPanels(history, scene.view.takenMs, state, widths, height, unicode);
  return {
    fixed: [nameLine(row, scene, around), ...stripLines(row, scene, around), EMPTY],
    lines: [...figureLines(row, columns), EMPTY, ...panels, ...blocks(row, scene, state, around, isWide)],
  };
}

function nameLine(row: TopRow, { rows, view, verdict }: Scene, { columns, unicode }: Surroundings): Line {
  const { id, startTimeMs } = row.agent;
  const state = verdict.states.get(id)?.state ?? 'idle';
  const { shape, tone, word } = STATES[state];
  const since =
    startTimeMs === undefined
      ? ''
      : `   since ${dateAndTime(startTimeMs)} (${spanText(Math.max(0, view.takenMs - startTimeMs))})`;
  const place = `${rows.findIndex(({ agent }) => agent.id === id) + 1} of ${rows.length}`;
  const left = [
    piece(oneLine(fullNameOf(row)), 'bold'),
    piece(row.agent.engine?.label === undefined ? '' : `   ${oneLine(row.agent.agent)}`, 'dim'),
    piece(`   ${SHAPES[shape][unicode ? 'glyph' : 'ascii']} ${word}`, tone === 'idle' ? 'dim' : tone),
    piece(since, 'dim'),
  ];
  return edgeToEdge(left, [piece(place, 'dim')], columns);
}

/** The finding that concerns the agent; empty without one. */
function stripLines({ agent: { id } }: TopRow, { verdict }: Scene, { columns, unicode }: Surroundings): Line[] {
  const finding = verdict.findings.find(({ agents }) => agents.includes(id));
  const count = columns >= TWO_COLUMNS_FROM ? STRIP.wide : STRIP.narrow;
  return finding === undefined ? [] : findingLines(finding, '', columns, unicode, count);
}

/** The figures in one line, or in two without room. */
function figureLines(row: TopRow, columns: number): Line[] {
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
function blocks(row: TopRow, scene: Scene, state: UiState, around: Surroundings, isWide: boolean): Line[] {
  const { columns } = around;
  const half = isWide ? Math.floor(columns / 2) - 1 : columns;
  const recent = scene.lastMinute.of(row.agent, scene.view.takenMs);
  const sections = [
    timeBars('TRANSFER TIME', timesOf('transferTimesUs', row, recent, state), 'p99', half, around.unicode),
    timeBars('POST TIME', timesOf('postTimesUs', row, recent, state), 'dim', half, around.unicode),
    sizeClassLines(row.agent.id, scene.sizes, state.lastMinute, half, around.unicode),
    errorLines(row, recent, half),
    sizeBars(scene.details, half, around.unicode),
    ringLines(row, scene, half, around.unicode),
    wayLines(row, half),
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
  return `last ${spanText(spanMs, Math.round)}`;
}

function timesOf(
  key: 'transferTimesUs' | 'postTimesUs',
  { agent }: TopRow,
  recent: Recent | undefined,
  { lastMinute }: UiState,
): Times {
  if (!lastMinute) return { counts: agent[key], since: 'all so far' };
  return { counts: recent?.[key], since: recent === undefined ? 'last minute' : lastText(recent) };
}

const ERROR_COLUMN = 12;

/** Errors are red while there are some in the last minute: all so far may be long ago. */
function errorLines({ agent }: TopRow, recent: Recent | undefined, width: number): Line[] {
  const title = 'ERRORS BY STATUS';
  const room = Math.max(title.length + 1, Math.min(26, width - 2 * ERROR_COLUMN - 2));
  const cell = (text: string, style: Style): Piece => piece(text.padStart(ERROR_COLUMN), style);
  const countCell = (count: number | undefined, style: Style): Piece =>
    cell(numberText(count), count === 0 || count === undefined ? 'dim' : style);
  const line = (status: string, count: number, inLast: number | undefined): Line => [
    piece(`  ${cutText(oneLine(status), room - 1).padEnd(room)}`),
    countCell(inLast, 'bad'),
    countCell(count, 'plain'),
  ];
  const heads = [cell(recent === undefined ? '' : lastText(recent), 'dim'), cell('all so far', 'dim')];
  const statuses = Object.entries(errorsByStatus(agent)).toSorted(([, a], [, b]) => b - a);
  return [
    [piece(`  ${title.padEnd(room)}`, 'bold'), ...heads],
    line('all', errorsOf(agent), recent?.errors),
    ...statuses.map(([status, count]) => line(status, count, recent && (recent.errorsByStatus[status] ?? 0))),
  ];
}

function ringLines({ agent }: TopRow, { details }: Scene, width: number, unicode: boolean): Line[] {
  const { fill, capacity, lost } = agent;
  const { path, ring, wireVersion, events, foundFull, foundFullMs, restarts } = details ?? {};
  const lines: Line[] = [[...heading('RING'), piece(path === undefined ? '' : `  ${oneLine(path)}`, 'dim')]];
  if (fill !== undefined) {
    const style = fill >= 1 ? 'warnGround' : fill >= NEARLY_FULL ? 'warn' : 'dim';
    const of = capacity === undefined ? '' : ` of ${numberText(capacity)} slots`;
    lines.push([
      piece('  '),
      piece(bar(fill, Math.max(8, width - 34), unicode), style),
      piece(`  ${percent(fill)}${of}`),
    ]);
  }
  const texts = [
    ring && `read position ${ring.readPos}, written ${ring.writePos}, pending ${numberText(ring.pending)}`,
    [events !== undefined && `${numberText(events)} events read`, wireVersion && `wire version ${wireVersion}`]
      .filter(Boolean)
      .join(', '),
    foundFull !== undefined &&
      `found full ${times(foundFull)}${foundFullMs !== undefined && foundFullMs >= 1_000 ? `, ${spanText(foundFullMs, Math.ceil)} at most` : ''}`,
    `${plural(lost, 'event')} lost${mayHaveLostMore(agent) ? ' or more' : ''}`,
    restarts !== undefined && restarts > 0 && `${plural(restarts, 'restart')} of the agent`,
  ];
  return [
    ...lines,
    ...texts.filter((text) => typeof text === 'string' && text !== '').map((text) => textLine(text as string, width)),
  ];
}

function wayLines({ agent: { way = {} } }: TopRow, width: number): Line[] {
  const { tx, rx, backends = [], ucxTls, ucxNetDevices } = way;
  const direction = (name: string, one: Way | undefined): string | undefined =>
    one && `${name} ${explainedWay(one)}${one.before === undefined ? '' : `; before ${one.before}`}`;
  const texts = [
    direction('tx', tx),
    direction('rx', rx),
    backends.length > 0 && `backends ${backends.join(', ')}`,
    ucxTls !== undefined && `UCX_TLS ${oneLine(ucxTls)}`,
    ucxNetDevices !== undefined && `UCX_NET_DEVICES ${oneLine(ucxNetDevices)}`,
  ].filter((text) => typeof text === 'string');
  return texts.length === 0 ? [] : [heading('WAY'), ...texts.map((text) => textLine(text, width))];
}

function placeLines({ agent }: TopRow, { details }: Scene, width: number): Line[] {
  const { pid, host, gpus, memoryBytes, memoryApproximate } = agent;
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
  const ever = registeredBytes === undefined ? '' : ` · ${bytesText(registeredBytes)} ever`;
  const text = `${bytesText(memoryBytes)} registered, ${exact}${ever}`;
  return [...lines, heading('MEMORY'), textLine(text, width)];
}

function textLine(text: string, width: number): Line {
  return [piece(`  ${cutText(text, Math.max(0, width - 2))}`)];
}
