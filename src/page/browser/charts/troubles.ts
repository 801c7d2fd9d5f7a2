/** Pictures of what goes wrong: errors by status, ring fill and loss. Pure. */
import type { Column } from '../../../view/answers/history-answer.js';
import { percent, perSecondText } from '../../../ground/figures/figure.js';
import { type Bar, bars, threshold } from './layers.js';
import type { ChartLine, ChartPicture, ChartsInput } from './picture.js';
import { countScale, roundStep, type SteadyTop } from './scales.js';
import { isComplete, WindowPoints } from './window.js';
import { newest } from '../common/history.js';
import { highest } from '../common/series.js';

const BAR_S = 5;
const LARGEST = 4;

/** Means of the points of each five seconds, begun at round times, so that the bars of the past do not change. */
function bins(times: readonly number[], values: Column): Map<number, number> {
  const found = new Map<number, { sum: number; seconds: number }>();
  times.forEach((time, i) => {
    const value = values[i] ?? null;
    if (value === null) return;
    const seconds = Math.min(BAR_S, i === 0 ? 1 : time - times[i - 1]!);
    const begin = Math.ceil(time / BAR_S - 1) * BAR_S;
    const bin = found.get(begin) ?? { sum: 0, seconds: 0 };
    found.set(begin, { sum: bin.sum + value * seconds, seconds: bin.seconds + seconds });
  });
  return new Map(Array.from(found, ([begin, { sum, seconds }]) => [begin, sum / seconds]));
}

export function errors({ history, window, span, errorsSoFar }: ChartsInput, top: SteadyTop): ChartPicture {
  const points = new WindowPoints(history.timesMs, window);
  const { times } = points;
  const statuses = Object.entries(history.fleet.errors)
    .map(([status, column]) => ({ status, values: points.of(column) }))
    .map((one) => ({ ...one, sum: one.values.reduce<number>((sum, value) => sum + (value ?? 0), 0) }))
    .filter(({ sum }) => sum > 0)
    .sort((a, b) => b.sum - a.sum);
  const shown = statuses.slice(0, LARGEST).map(({ status, values }) => ({ status, values }));
  const rest = statuses.slice(LARGEST).map(({ values }) => values);
  if (rest.length > 0) shown.push({ status: 'other', values: times.map((_, i) => sumAt(rest, i)) });
  const lines = shown.map(({ status, values }, i): ChartLine => ({
    label: status,
    colour: `e${i + 1}`,
    values,
    text: perSecondText,
    isLegendOnly: true,
    isName: true,
  }));
  const heights = new Map<number, number>();
  const stacked = lines.flatMap(({ values, colour }) =>
    Array.from(bins(times, values), ([from, value]): Bar => {
      const low = heights.get(from) ?? 0;
      heights.set(from, low + value);
      return { from, to: from + BAR_S, low, high: low + value, colour };
    }),
  );
  const isQuiet = lines.length === 0;
  return {
    ...points.picture,
    unit: 'per second, by status',
    scale: countScale(top.next(Math.max(0, ...heights.values()), 1)),
    lines,
    sum: (at) => {
      const now = statuses.map(({ values }) => (at === undefined ? newest(values) : values[at]) ?? 0);
      const sum = now.reduce((all, value) => all + value, 0);
      return sum === 0 ? '' : perSecondText(sum);
    },
    layers: [bars(stacked.filter(({ low, high }) => high > low)), ...points.picture.layers],
    // Events that are missing may be errors.
    ...(isQuiet ? { note: errorsSoFar, quiet: { text: `No errors in ${span}`, isGood: isComplete(window) } } : {}),
  };
}

function sumAt(columns: readonly Column[], i: number): number | null {
  const known = columns.map((column) => column[i] ?? null).filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}

/** The lower part of the axis, below 0 of the fill, has the scale of the loss. */
const LOSS_BOTTOM = -0.9;
const LOSS_TOP = -0.3;
const NEARLY_FULL = 0.8;

/** Shows the fill of the fullest ring above, and drains that found a ring full below. */
export function fillAndLoss({ history: { timesMs, fleet }, window, span }: ChartsInput, top: SteadyTop): ChartPicture {
  const points = new WindowPoints(timesMs, window);
  const full = points.of(fleet.full);
  const dropped = points.of(fleet.dropped);
  const lost = [...bins(points.times, full)].filter(([, value]) => value > 0);
  const most = top.next(Math.max(highest(full), 0), 1);

  const toAxis = (value: number): number => LOSS_BOTTOM + ((LOSS_TOP - LOSS_BOTTOM) * value) / most;
  const fill = points.of(fleet.fill);
  const isFull = highest(fill) >= NEARLY_FULL;
  const last = fill.findLast((value) => value !== null) ?? null;
  const lossTop = roundStep(most * 4) >= most ? most : roundStep(most * 4);
  const isQuiet = highest(full) === 0 && highest(dropped) === 0;
  return {
    ...points.picture,
    scale: {
      min: LOSS_BOTTOM,
      max: 1,
      ticks: [
        { at: 1, text: '100%' },
        { at: 0.5, text: '50%' },
        { at: 0, text: '0%' },
        { at: toAxis(lossTop), text: perSecondText(lossTop) },
        { at: LOSS_BOTTOM, text: '0/s' },
      ],
    },
    lines: [
      {
        label: 'fullest ring',
        colour: isFull ? 'warn-mark' : 'idle',
        labelColour: isFull ? 'warn' : 'soft',
        values: fill,
        text: percent,
        isFilled: true,
        ...(last === null ? {} : { end: percent(last) }),
      },
      { label: 'found full', colour: 'e1', values: full, text: perSecondText, isLegendOnly: true },
      ...(highest(dropped) === 0
        ? []
        : [{ label: 'dropped', colour: 'e2', values: dropped, text: perSecondText, isLegendOnly: true }]),
    ],
    layers: [
      threshold(NEARLY_FULL, 'warn-mark'),
      bars(
        lost.map(([from, value]) => ({ from, to: from + BAR_S, low: LOSS_BOTTOM, high: toAxis(value), colour: 'e1' })),
      ),
      ...points.picture.layers,
    ],
    quiet: isQuiet ? { text: `Nothing lost in ${span}`, isGood: isComplete(window), isLower: true } : undefined,
  };
}
