/** Scales of the vertical axes, with their ticks. Pure. */
import { bucketMiddle } from '../../../ground/exponential.js';
import { type HistoryAnswer, tallyAt } from '../../../view/answers/history-answer.js';
import { boundText, BYTE_UNITS, NUMBER_UNITS, stepText, timeFigure, withUnit } from '../../../ground/figures/figure.js';
import { highest } from '../common/series.js';

export interface Tick {
  readonly at: number;
  readonly text: string;
}

export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly Tick[];
  readonly isLog?: boolean;
  /** Unit of the ticks, printed beside the title. */
  readonly unit?: string;
}

const STEPS = [1, 2, 2.5, 5, 10];
const MOST_STEPS = 4;
/** The top falls only when the maximum is below this share of it: a scale that follows every point cannot be read. */
const KEPT_FROM = 0.6;

/** Returns the smallest round step that divides the range up to `max` into at most four. */
export function roundStep(max: number): number {
  const least = max / MOST_STEPS;
  const power = 10 ** Math.floor(Math.log10(least));
  // A quotient such as 2.0000000000000004 must not take the next step.
  return power * STEPS.find((step) => step * power >= least * (1 - 1e-9))!;
}

/** Chooses the top of a linear scale that begins at 0, and keeps it while it suits. */
export class SteadyTop {
  #top = 0;

  next(max: number, atLeast: number): number {
    const wanted = Math.max(max, atLeast);
    if (wanted > this.#top || wanted < this.#top * KEPT_FROM) {
      const step = roundStep(wanted);
      this.#top = Math.ceil((wanted / step) * (1 - 1e-9)) * step;
    }
    return this.#top;
  }
}

/** Returns ticks from 0 to `top`. `unit`: size of the unit in which they are printed, and its name. */
export function linearScale(top: number, unit: { readonly size: number; readonly name: string }): Scale {
  const step = roundStep(top);
  const ticks: Tick[] = [];
  for (let i = 0; i * step <= top * (1 + 1e-9); i++) {
    ticks.push({ at: i * step, text: stepText((i * step) / unit.size, step / unit.size) });
  }
  return { min: 0, max: top, ticks, unit: unit.name };
}

/** Returns the unit of bytes in which `value` has one to three digits before the point. */
export function byteUnit(value: number): { size: number; name: string } {
  return unitFor(value, BYTE_UNITS);
}

function unitFor(value: number, units: readonly string[]): { size: number; name: string } {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3 + 1e-9)));
  return { size: 1000 ** power, name: units[power]! };
}

/** Returns ticks of counts: 0, 5 k, 10 k. */
export function countScale(top: number): Scale {
  // Halves of an event are no marks to read by.
  if (top <= 1) return { min: 0, max: 1, ticks: [0, 1].map((at) => ({ at, text: String(at) })), unit: '' };
  const { size, name } = unitFor(top, NUMBER_UNITS);
  const scale = linearScale(top, { size, name: '' });
  return { ...scale, ticks: scale.ticks.map(({ at, text }) => ({ at, text: at === 0 ? '0' : withUnit(text, name) })) };
}

/** Returns whole decades that hold both times, at least two of them. Microseconds; times below 1 count as 1. */
export function timeScale(lowest: number, highest: number): Scale {
  const first = Math.max(0, Math.floor(Math.log10(Math.max(1, lowest)) + 1e-9));
  const last = Math.max(first + 2, Math.ceil(Math.log10(Math.max(1, highest)) - 1e-9));
  const ticks: Tick[] = [];
  const every = last - first > 5 ? 2 : 1;
  for (let power = first; power <= last; power += every) {
    ticks.push({ at: 10 ** power, text: boundText(timeFigure(10 ** power)) });
  }
  return { min: 10 ** first, max: 10 ** last, ticks, isLog: true };
}

const LOWEST_SHARE = 0.001;

/** Returns the decades from p0.1 to p99.9 of the whole history, and up to its highest p99. They are the same in each span. */
export function transferTimeScale({ transferTimesUs, fleet }: HistoryAnswer): Scale {
  const sums = new Map<number, number>();
  let total = 0;
  for (let i = 0; i < transferTimesUs.timesMs.length; i++) {
    const tally = tallyAt(transferTimesUs, i);
    for (let k = 0; k < (tally?.counts.length ?? 0); k++) {
      const index = tally!.offset + k;
      sums.set(index, (sums.get(index) ?? 0) + tally!.counts[k]!);
      total += tally!.counts[k]!;
    }
  }
  if (total === 0) return timeScale(10, 1000);
  const inOrder = [...sums].sort(([a], [b]) => a - b);
  const at = (share: number): number => {
    let reached = 0;
    const [index] = inOrder.find(([, count]) => (reached += count) >= share * total) ?? inOrder.at(-1)!;
    return bucketMiddle(transferTimesUs, index);
  };
  return timeScale(at(LOWEST_SHARE), Math.max(at(1 - LOWEST_SHARE), highest(fleet.p99)));
}
