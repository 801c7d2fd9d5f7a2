/** Rows of a distribution: powers of two, from exponential counts. Pure. */
import { atScale, type ExponentialTally } from '../../../ground/exponential.js';

export interface BarRow {
  /** Upper bound, which belongs to the row. */
  readonly label: string;
  readonly count: number;
}

/** Returns a row per power of two, from the lowest to the highest one with values, and one for values of 0. */
export function bucketRows(tally: ExponentialTally, format: (bound: number) => string): BarRow[] {
  const { zeroCount, offset, counts } = atScale(tally, 0);
  const rows = Array.from(counts, (count, i) => ({ label: format(2 ** (offset + i + 1)), count }));
  return zeroCount > 0 ? [{ label: format(0), count: zeroCount }, ...rows] : rows;
}
