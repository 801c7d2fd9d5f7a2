/** Pictures of transfer times: percentiles, and how they spread. Pure. */
import { atScale } from '../../../ground/exponential.js';
import { type AgentColumns, type Column, type CountColumns, tallyAt } from '../../../view/answers/history-answer.js';
import type { Percentiles } from '../../../view/figures/percentiles.js';
import { timeText } from '../../../ground/figures/figure.js';
import { type Cell, cells } from './layers.js';
import type { ChartLine, ChartPicture, ChartsInput } from './picture.js';
import { timeScale, transferTimeScale } from './scales.js';
import { WindowPoints, markNotes, type Window } from './window.js';

/** A logarithmic axis has no 0: values below a microsecond are drawn as one. */
const onLog = (column: Column): Column => column.map((value) => (value === null ? null : Math.max(1, value)));

const PERCENTILES = [
  { label: 'p50', colour: 'p50', labelColour: 'p50-label' },
  { label: 'p90', colour: 'p90', isBand: true },
  { label: 'p99', colour: 'p99', widthPx: 2 },
] as const;

export function transferTime({ history, window, recent }: ChartsInput): ChartPicture {
  const points = new WindowPoints(history.timesMs, window);
  const lines = percentileLines(history.fleet, points, recent);
  return { ...points.picture, unit: 'log', scale: transferTimeScale(history), lines };
}

type PercentileColumns = Pick<AgentColumns, 'p50' | 'p90' | 'p99'>;

/** Shows the percentiles of one agent. `recent`: those of now. */
export function agentTime(
  timesMs: readonly number[],
  columns: PercentileColumns,
  window: Window,
  recent: Percentiles | undefined,
): ChartPicture {
  const points = new WindowPoints(timesMs, window);
  const known = [...columns.p50, ...columns.p99].filter((value) => value !== null);
  const scale = known.length === 0 ? timeScale(10, 1000) : timeScale(Math.min(...known), Math.max(...known));
  const lines = percentileLines(columns, points, recent);
  return { ...points.picture, unit: 'log', scale, lines, notes: markNotes(window) };
}

function percentileLines(
  columns: PercentileColumns,
  points: WindowPoints,
  recent: Percentiles | undefined,
): ChartLine[] {
  return PERCENTILES.map((line) => {
    const values = points.of(onLog(columns[line.label]));
    return { ...line, values, text: timeText, now: recent?.[line.label], end: line.label };
  });
}

/** Four rows for a factor of two are as high as a line of text is thick. */
const ROW_SCALE = 2;
const DARKEST = 5;
const CONTRAST = 0.7;

/** Shows for each five seconds which share of the transfers took how long. */
export function spread({ history, window, recent }: ChartsInput): ChartPicture {
  const points = new WindowPoints(history.timesMs, window);
  const p99: ChartLine = {
    label: 'p99',
    colour: 'text',
    values: points.of(onLog(history.fleet.p99)),
    text: timeText,
    now: recent?.p99,
    end: 'p99',
  };
  return {
    ...points.picture,
    unit: 'log',
    scale: transferTimeScale(history),
    lines: [p99],
    hasShades: true,
    layers: [cells(cellsOf(history.transferTimesUs, window)), ...points.picture.layers],
  };
}

/** Shares are those of a column: a busy minute is not darker than a quiet one, and a change of shape is seen. */
function cellsOf(columns: CountColumns, { from, to }: Window): Cell[] {
  const found = columns.timesMs.flatMap((timeMs, i) => {
    const start = (columns.timesMs[i - 1] ?? timeMs - usualStepMs(columns.timesMs)) / 1000;
    const tally = tallyAt(columns, i);
    if (tally === undefined || timeMs / 1000 < from || start > to) return [];
    const { offset, counts } = atScale(tally, ROW_SCALE);
    const total = Array.from(counts).reduce((sum, count) => sum + count, 0);
    return Array.from(counts, (count, k) => ({ start, end: timeMs / 1000, index: offset + k, share: count / total }));
  });
  const most = Math.max(0, ...found.map(({ share }) => share));
  const bound = (index: number): number => 2 ** (index / 2 ** ROW_SCALE);
  return found
    .filter(({ share }) => share > 0)
    .map(({ start, end, index, share }) => ({
      from: start,
      to: end,
      low: bound(index),
      high: bound(index + 1),
      level: DARKEST * (share / most) ** CONTRAST,
    }));
}

function usualStepMs(timesMs: readonly number[]): number {
  return timesMs.length < 2 ? 5000 : timesMs[1]! - timesMs[0]!;
}
