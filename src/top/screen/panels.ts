/** Graphs of the last minutes, in frames or beside each other. Pure. */
import { spanText } from '../../ground/figures/clock.js';
import {
  bytesRateFigure,
  bytesRateText,
  numberFigure,
  perSecondFigure,
  perSecondText,
  rangeText,
  timeFigure,
  timeText,
} from '../../ground/figures/figure.js';
import { type Field, measuresOf } from '../points.js';
import { overall } from '../tracker.js';
import { type Area, decades, graph, logHeights, niceTop, valuesIn } from './graph.js';
import type { History } from './history.js';
import type { UiState } from './keys.js';
import { blank, terminalColumns, cutText, filled, type Line, type Piece, piece, type Style } from './line.js';
import type { Scene, Surroundings } from './scene.js';

/** Least time that a graph shows, and least number of samples. */
export const GRAPH_SPANS_MS = { compact: 60_000, panel: 300_000 };
const MIN_SAMPLES = 30;
const LEGEND = 11;

/** Area of a graph, with its scale in words. */
interface Plot {
  readonly area: Area;
  readonly scale: string;
}

export function spanOf(least: number, { intervalMs }: UiState): number {
  return Math.max(least, MIN_SAMPLES * intervalMs);
}

function linearPlot(
  history: History,
  fields: readonly Field[],
  lower: readonly Field[],
  styles: readonly [upper: Style, lower: Style],
  scaleText: (top: number) => string,
  window: readonly [endMs: number, spanMs: number, count: number],
): Plot {
  const [endMs, spanMs] = window;
  const top = niceTop(history.highest(fields, endMs - spanMs));
  const heights = (some: readonly Field[]): Float64Array => history.parts(some, ...window).map((value) => value / top);
  const marked = history.parts(['tooLow'], ...window);
  const area = { upper: heights(fields), lower: heights(lower), upperStyle: styles[0], lowerStyle: styles[1], marked };
  return { area, scale: scaleText(top) };
}

function throughputPlot(history: History, ...window: readonly [endMs: number, spanMs: number, count: number]): Plot {
  return linearPlot(history, ['tx', 'rx'], ['rx'], ['tx', 'rx'], bytesScale, window);
}

function bytesScale(top: number): string {
  return rangeText(bytesRateFigure(0), bytesRateFigure(top));
}

/** Scale and time of graphs of bytes per second: `0 to 5 GB/s · 5 min`. */
export function scaleText(top: number, spanMs: number): string {
  return `${bytesScale(top)} · ${spanText(spanMs)}`;
}

/** p99 over p50, on a logarithmic scale of whole decades. */
function timesPlot(history: History, ...window: readonly [endMs: number, spanMs: number, count: number]): Plot {
  const sinceMs = window[0] - window[1];
  const lowest = history.lowest('p50', sinceMs);
  const highest = history.highest(['p99'], sinceMs);
  const scale = Number.isFinite(lowest) ? decades(lowest, highest) : { bottom: 1, top: 10 };
  const heights = (field: Field): Float64Array => logHeights(history.parts([field], ...window), scale);
  const area = { upper: heights('p99'), lower: heights('p50'), upperStyle: 'p99', lowerStyle: 'p50' } as const;
  return { area, scale: `${rangeText(timeFigure(scale.bottom), timeFigure(scale.top))}, log` };
}

// --- beside figures, for small screens ---

/** tx and rx in one graph of `height` lines, with the figures at its left. */
export function compactGraphs(scene: Scene, state: UiState, around: Surroundings, height: number): Line[] {
  const { columns, unicode } = around;
  const { view, fleet, times } = scene;
  const spanMs = spanOf(GRAPH_SPANS_MS.compact, state);
  const { tx, rx } = measuresOf(overall(view.rows));
  const right = 10;
  const left = 15;
  const width = Math.max(0, columns - left - right);
  const { area, scale } = throughputPlot(fleet, view.takenMs, spanMs, valuesIn(width));
  const labels: [string, string, Style][] = [
    ['tx', bytesRateText(tx), 'tx'],
    ['rx', bytesRateText(rx), 'rx'],
    ['p99', timeText(times?.p99), 'p99'],
  ];
  const ends = [scale.replace('0 to ', ''), '', `0  ${spanText(spanMs)}`];
  return graph(area, width, height, unicode).map((line, i) => {
    const [name, value, style] = labels[i]!;
    const label = [piece(` ${name.padEnd(4)}`, style), piece(value.padEnd(left - 5), i === 2 ? 'bold' : 'plain')];
    return [...label, ...line, piece(cutText(` ${ends[i]!.padStart(right - 1)}`, right), 'dim')];
  });
}

// --- in frames ---

export type PanelKind = 'throughput' | 'times' | 'requests' | 'errors';

interface ScreenPanel {
  readonly title: string;
  /** A warning beside the title. */
  readonly mark?: string;
  readonly legend: readonly (readonly [name: string, value: string, style: Style])[];
  readonly plot: Plot;
}

/** Panels of equal width beside each other, with the frame `height` lines high. */
export function panelRow(
  kinds: readonly PanelKind[],
  scene: Scene,
  state: UiState,
  around: Surroundings,
  height: number,
): Line[] {
  const { columns } = around;
  const widths = kinds.map(
    (_, i) => Math.floor(((i + 1) * columns) / kinds.length) - Math.floor((i * columns) / kinds.length),
  );
  const spanMs = spanOf(GRAPH_SPANS_MS.panel, state);
  const panels = kinds.map((kind, i) => {
    const panel = panelOf(kind, scene, around, spanMs, graphWidth(widths[i]!), kinds.includes('requests'));
    return framed(panel, widths[i]!, height, spanMs, around.unicode);
  });
  return Array.from({ length: height }, (_, row) => panels.flatMap((lines) => lines[row]!));
}

function graphWidth(width: number): number {
  return Math.max(0, width - LEGEND - 4);
}

function panelOf(
  kind: PanelKind,
  { fleet, view, times, verdict }: Scene,
  { unicode }: Surroundings,
  spanMs: number,
  width: number,
  hasRequests: boolean,
): ScreenPanel {
  const window = [view.takenMs, spanMs, valuesIn(width)] as const;
  const { tx, rx, requests, errors } = measuresOf(overall(view.rows));
  const isFailing = (errors ?? 0) > 0;
  const errorRate = perSecondText(errors);
  const error = ['err', errorRate, isFailing ? 'bad' : 'dim'] as const;
  const request = ['req', perSecondText(requests), 'plain'] as const;
  if (kind === 'throughput') {
    const sum = tx === undefined || rx === undefined ? undefined : tx + rx;
    return {
      title: `Throughput ${bytesRateText(sum)}`,
      ...(verdict.counts.incomplete > 0 ? { mark: `${unicode ? '▲' : '!'} too low` } : {}),
      legend: [['tx', bytesRateText(tx), 'tx'], ['rx', bytesRateText(rx), 'rx'], ...(hasRequests ? [] : [error])],
      plot: throughputPlot(fleet, ...window),
    };
  }
  if (kind === 'times') {
    return {
      title: `Transfer time p99 ${timeText(times?.p99)}`,
      legend: [
        ['p50', timeText(times?.p50), 'plain'],
        ['p90', timeText(times?.p90), 'plain'],
        hasRequests ? (['p99', timeText(times?.p99), 'p99'] as const) : request,
      ],
      plot: timesPlot(fleet, ...window),
    };
  }
  const isErrors = kind === 'errors';
  const scaleText = (top: number): string => rangeText(numberFigure(0), perSecondFigure(top));
  const field: Field = isErrors ? 'errors' : 'requests';
  const style: Style = isErrors ? 'bad' : 'info';
  return {
    title: isErrors ? `Errors ${errorRate}` : `Requests ${perSecondText(requests)}`,
    legend: isErrors ? [error] : [request, error],
    plot: linearPlot(fleet, [field], [], [style, style], scaleText, window),
  };
}

/** Panels of one agent: throughput and transfer time, for its detail. */
export function agentPanels(
  history: History,
  endMs: number,
  state: UiState,
  widths: readonly number[],
  height: number,
  unicode: boolean,
): Line[] {
  const spanMs = spanOf(GRAPH_SPANS_MS.panel, state);
  const panels = widths.map((width, i) => {
    const window = [endMs, spanMs, valuesIn(graphWidth(width))] as const;
    const plot = i === 0 ? throughputPlot(history, ...window) : timesPlot(history, ...window);
    const legend = i === 0 ? LEGEND_OF_THROUGHPUT : LEGEND_OF_TIMES;
    return framed({ title: i === 0 ? 'tx + rx' : 'Transfer time', legend, plot }, width, height, spanMs, unicode);
  });
  return Array.from({ length: height }, (_, row) => panels.flatMap((lines) => lines[row]!));
}

const LEGEND_OF_THROUGHPUT = [
  ['tx', '', 'tx'],
  ['rx', '', 'rx'],
] as const;
const LEGEND_OF_TIMES = [
  ['p99', '', 'p99'],
  ['p50', '', 'p50'],
] as const;

const CORNERS = { true: ['┌', '┐', '└', '┘', '─', '│'], false: ['+', '+', '+', '+', '-', '|'] } as const;

function framed(panel: ScreenPanel, width: number, height: number, spanMs: number, unicode: boolean): Line[] {
  const { title, mark, legend, plot } = panel;
  const [topLeft, topRight, bottomLeft, bottomRight, across, down] = CORNERS[`${unicode}`];
  const head: Piece[] = [piece(topLeft, 'dim'), piece(` ${title} `, 'bold')];
  if (mark !== undefined) head.push(piece(`${mark} `, 'warn'));
  const used = head.reduce((sum, { text }) => sum + terminalColumns(text), 0);
  const room = width - used - 1;
  const ends = [` ${plot.scale} · ${spanText(spanMs)} `, ` ${plot.scale} `];
  const end = ends.find((text) => terminalColumns(text) < room) ?? '';
  head.push(piece(across.repeat(Math.max(0, room - terminalColumns(end))) + end + topRight, 'dim'));
  const inner = height - 2;
  const lines = graph(plot.area, graphWidth(width), inner, unicode);
  const labels = legendLines(legend, inner);
  const [left, right] = [piece(`${down} `, 'dim'), piece(` ${down}`, 'dim')];
  return [
    filled(head, width),
    ...lines.map((line, i) => [left, ...filled(labels[i]!, LEGEND), ...line, right]),
    [piece(bottomLeft + across.repeat(Math.max(0, width - 2)) + bottomRight, 'dim')],
  ];
}

/** Name and value below each other; beside each other where there is no room. */
function legendLines(legend: ScreenPanel['legend'], height: number): Line[] {
  const isTall = height >= 2 * legend.length;
  const lines = legend.flatMap(([name, value, style]): Line[] => {
    if (value === '') return [[piece(name, style)]];
    if (isTall) return [[piece(name, style)], [piece(value)]];
    return [[piece(`${name} `, style), piece(value)]];
  });
  return Array.from({ length: height }, (_, i) => lines[i] ?? [blank(0)]);
}
