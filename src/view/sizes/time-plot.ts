/** Geometry of the plot of time against size, both logarithmic. Pure; the live page uses this module, too. */
import { boundText, coordinate, timeFigure } from '../../ground/figures/figure.js';
import { placeIn, type TimeRange } from './class-strip.js';
import type { JsonClass } from './direction-sizes.js';
import { boundIn, sizeClassText } from './size-words.js';
import type { TimeModel } from './time-line.js';

export const PLOT = { width: 504, height: 220, left: 52, right: 12, top: 10, bottom: 24 } as const;
const LEAST_LABEL_GAP = 56;
const LINE_STEPS = 40;

export interface TimePlot {
  readonly points: readonly { readonly x: number; readonly y: number; readonly topY: number; readonly r: number }[];
  readonly timeTicks: readonly { readonly y: number; readonly text: string }[];
  readonly sizeTicks: readonly { readonly x: number; readonly text: string }[];
  /** Paths; empty without a line. */
  readonly line: string;
  readonly peers: string;
}

export function timePlotOf(
  classes: readonly JsonClass[],
  range: TimeRange,
  model: TimeModel,
  peers: TimeModel | undefined,
): TimePlot {
  const sizes = classes.map(({ meanBytes }) => Math.max(1, meanBytes));
  const [least, most] = [Math.min(...sizes) / 1.5, Math.max(...sizes) * 1.5];
  const total = classes.reduce((sum, { transfers }) => sum + transfers, 0);
  const xOf = (bytes: number): number =>
    PLOT.left + (Math.log(bytes / least) / Math.log(most / least)) * (PLOT.width - PLOT.left - PLOT.right);
  const yOf = (us: number): number =>
    PLOT.height - PLOT.bottom - placeIn(range, us) * (PLOT.height - PLOT.bottom - PLOT.top);
  const pathOf = (shown: TimeModel | undefined): string => {
    if (shown?.kind !== 'line') return '';
    const { baseUs, usPerByte } = shown.fitted;
    const steps = Array.from({ length: LINE_STEPS + 1 }, (_, i) => least * (most / least) ** (i / LINE_STEPS));
    return steps
      .map(
        (bytes, i) => `${i === 0 ? 'M' : 'L'}${coordinate(xOf(bytes))} ${coordinate(yOf(baseUs + usPerByte * bytes))}`,
      )
      .join('');
  };
  const timeTicks: { y: number; text: string }[] = [];
  for (let us = range.from; us <= range.to * 1.001; us *= 10) {
    timeTicks.push({ y: yOf(us), text: boundText(timeFigure(us)) });
  }
  const sizeTicks: { x: number; text: string }[] = [];
  classes.forEach((one, i) => {
    const x = xOf(sizes[i]!);
    if (x - (sizeTicks.at(-1)?.x ?? -Infinity) < LEAST_LABEL_GAP) return;
    sizeTicks.push({ x, text: sizeClassText(boundIn(one)) });
  });
  const points = classes.map(({ p50Us, p99Us, transfers }, i) => ({
    x: xOf(sizes[i]!),
    y: yOf(p50Us),
    topY: yOf(p99Us),
    r: 3 + 4 * Math.sqrt(transfers / total),
  }));
  return { points, timeTicks, sizeTicks, line: pathOf(model), peers: pathOf(peers) };
}
