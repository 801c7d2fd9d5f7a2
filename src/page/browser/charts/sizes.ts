/** Picture of the transfers by size and direction. Pure. */
import { atScale } from '../../../ground/exponential.js';
import { type CountColumns, tallyAt } from '../../../view/answers/history-answer.js';
import { perSecondText, binaryText } from '../../../ground/figures/figure.js';
import { type Bar, bars } from './layers.js';
import type { ChartPicture, ChartsInput } from './picture.js';
import { countScale, type SteadyTop } from './scales.js';
import type { Window } from './window.js';

const MOST_COLUMNS = 16;
const MOST_LABELS = 7;
const DIRECTIONS = ['tx', 'rx'] as const;

/** Shows transfers per second in the window, in columns of powers of two. */
export function sizes({ history, window }: ChartsInput, top: SteadyTop): ChartPicture {
  const found = { tx: ratesBySize(history.txSizes, window), rx: ratesBySize(history.rxSizes, window) };
  const powers = [...found.tx.keys(), ...found.rx.keys()];
  const lowest = Math.min(...powers, 40);
  const highest = powers.length === 0 ? lowest : Math.max(...powers);
  const width = Math.ceil((highest - lowest + 1) / MOST_COLUMNS);
  const count = Math.ceil((highest - lowest + 1) / width);
  const rate = (direction: 'tx' | 'rx', column: number): number => {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += found[direction].get(lowest + column * width + i) ?? 0;
    return sum;
  };
  const places = Array.from({ length: count }, (_, i) => i);
  const total = (direction: 'tx' | 'rx'): number => places.reduce((sum, i) => sum + rate(direction, i), 0);
  const columnBars = places.flatMap((i) =>
    DIRECTIONS.map((direction, side): Bar => {
      const from = i - 0.36 + side * 0.36;
      return { from, to: from + 0.36, low: 0, high: rate(direction, i), colour: direction };
    }),
  );
  const every = Math.ceil(count / MOST_LABELS);
  return {
    times: places,
    from: -0.5,
    to: count - 0.5,
    columns: places
      .filter((i) => i % every === 0)
      .map((i) => ({ at: i, text: binaryText(2 ** (lowest + (i + 1) * width)) })),
    unit: 'transfers per second, up to each size',
    scale: countScale(top.next(Math.max(0, ...columnBars.map(({ high }) => high)), 1)),
    lines: DIRECTIONS.map((direction) => ({
      label: direction,
      colour: direction,
      values: places.map(() => total(direction)),
      text: perSecondText,
      isLegendOnly: true,
    })),
    layers: [bars(columnBars.filter(({ high }) => high > 0))],
    quiet: powers.length === 0 ? { text: 'No transfers in this time', isGood: false } : undefined,
  };
}

/** Returns transfers per second by the exponent of the bucket: bucket i holds sizes above 2^i, up to 2^(i + 1). */
function ratesBySize(columns: CountColumns, { from, to }: Window): Map<number, number> {
  const sums = new Map<number, number>();
  let seconds = 0;
  columns.timesMs.forEach((timeMs, i) => {
    const tally = tallyAt(columns, i);
    const begin = columns.timesMs[i - 1];
    if (tally === undefined || begin === undefined || timeMs / 1000 <= from || begin / 1000 >= to) return;
    seconds += (timeMs - begin) / 1000;
    const { offset, counts } = atScale(tally, 0);
    for (let k = 0; k < counts.length; k++) {
      if (counts[k]! > 0) sums.set(offset + k, (sums.get(offset + k) ?? 0) + counts[k]!);
    }
  });
  return new Map(Array.from(sums, ([power, sum]) => [power, sum / seconds]));
}
