/** Times in which the numbers are too low: history tells, also after the finding has gone. Pure. */
import type { Column } from '../../../view/answers/history-answer.js';
import { PRESENT_MS } from '../../../view/verdict/trouble-watch.js';

/** Seconds since the epoch. */
export type MarkedTime = readonly [from: number, to: number];

/** Returns ranges of points in which a ring was found full. A shorter pause than that of a finding does not divide them. */
export function tooLowRanges(timesMs: readonly number[], full: Column): MarkedTime[] {
  const ranges: [from: number, to: number][] = [];
  full.forEach((rate, i) => {
    if (rate === null || rate === 0) return;
    // A point covers the time since the one before.
    const from = (timesMs[i - 1] ?? timesMs[i]!) / 1000;
    const to = timesMs[i]! / 1000;
    const last = ranges.at(-1);
    if (last !== undefined && from - last[1] < PRESENT_MS / 1000) last[1] = to;
    else ranges.push([from, to]);
  });
  return ranges;
}
