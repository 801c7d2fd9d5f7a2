/** Rows of a distribution: powers of two, from exponential counts. Pure. */
import { atScale, type ExponentialTally } from '../../../exponential.js';

export interface BarRow {
  readonly label: string;
  readonly values: readonly number[];
}

/** Returns a row per power of two, from the lowest to the highest one with values, and one for values of 0. */
export function bucketRows(
  columns: readonly (ExponentialTally | undefined)[],
  format: (bound: number) => string,
): BarRow[] {
  const octaves = columns.map((counts) => counts && atScale(counts, 0));
  const filled = octaves.filter((one) => one !== undefined && one.counts.length > 0) as ExponentialTally[];
  const lowest = Math.min(...filled.map(({ offset }) => offset));
  const end = Math.max(...filled.map(({ offset, counts }) => offset + counts.length));
  const zeros = octaves.map((one) => one?.zeroCount ?? 0);
  const rows = zeros.some((count) => count > 0) ? [{ label: format(0), values: zeros }] : [];
  for (let index = lowest; index < end; index++) {
    const values = octaves.map((one) => one?.counts[index - one.offset] ?? 0);
    rows.push({ label: `≤ ${format(2 ** (index + 1))}`, values });
  }
  return rows;
}
