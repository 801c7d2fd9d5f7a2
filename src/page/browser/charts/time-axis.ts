/** Ticks of an axis of time. Pure. */
import { timeOfDay } from '../../../ground/figures/clock.js';

/** Longer spans have ticks of whole minutes. */
const SECONDS_UP_TO_S = 180;
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600];

/** Returns at most this many round times in the span, seconds since the epoch. */
export function timeTicks(from: number, to: number, most: number): number[] {
  const least = to - from > SECONDS_UP_TO_S ? 60 : 1;
  const step = STEPS_S.find((one) => one >= least && (to - from) / one <= most) ?? STEPS_S.at(-1)!;
  const ticks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) ticks.push(at);
  return ticks;
}

/** Returns the texts of ticks: with seconds if any tick needs them. */
export function clockOfAxis(ticks: readonly number[]): string[] {
  const letters = ticks.every((at) => at % 60 === 0) ? 'hh:mm'.length : undefined;
  return ticks.map((at) => timeOfDay(at * 1000).slice(0, letters));
}
