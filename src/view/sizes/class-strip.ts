/** Distribution of a size class as a strip of shaded bins on a logarithmic scale of time. Pure; the live page uses this module, too. */
import { bucketMiddle, type ExponentialTally } from '../../ground/exponential.js';

export const STRIP_BINS = 30;
const MOST_SHADE = 5;

/** Times in microseconds, above 0. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/** Returns whole decades that hold all times. */
export function decadesOf(times: readonly number[]): TimeRange {
  const known = times.map((us) => Math.max(1, us));
  const first = Math.floor(Math.log10(Math.min(...known)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...known)) - 1e-9));
  return { from: 10 ** first, to: 10 ** last };
}

/** Returns the place of a time in the range, from 0 to 1. */
export function placeIn({ from, to }: TimeRange, us: number): number {
  const place = Math.log(Math.max(us, from) / from) / Math.log(to / from);
  return Math.min(1, place);
}

/** Returns the shade of each bin: undefined if it is empty, else 0 to 5 by its share of the fullest bin. */
export function shadesOf(tally: ExponentialTally, range: TimeRange): (number | undefined)[] {
  const bins = new Array<number>(STRIP_BINS).fill(0);
  const add = (us: number, count: number): void => {
    bins[Math.min(STRIP_BINS - 1, Math.floor(placeIn(range, us) * STRIP_BINS))]! += count;
  };
  add(0, tally.zeroCount);
  for (let i = 0; i < tally.counts.length; i++) add(bucketMiddle(tally, tally.offset + i), tally.counts[i]!);
  const most = Math.max(...bins);
  return bins.map((count) => (count === 0 ? undefined : Math.ceil((count / most) ** 0.7 * MOST_SHADE)));
}
