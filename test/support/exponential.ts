/** Exponential tallies as the native part makes them. */
import type { ExponentialTally } from '../../src/ground/exponential.js';

/** Returns the tally of these values, none of them below 0. */
export function exponentialTally(values: readonly number[], scale = 4): ExponentialTally {
  const indices = values.filter((value) => value > 0).map((value) => indexOf(value, scale));
  const zeroCount = values.length - indices.length;
  if (indices.length === 0) return { scale, zeroCount, offset: 0, counts: new Float64Array() };
  const offset = Math.min(...indices);
  const counts = new Float64Array(Math.max(...indices) - offset + 1);
  for (const index of indices) counts[index - offset]! += 1;
  return { scale, zeroCount, offset, counts };
}

/** Returns equal objects for tallies with equal numbers: any array may hold counts, and any offset is right without them. */
export function comparable({ counts, offset, ...rest }: ExponentialTally) {
  return { ...rest, offset: counts.length === 0 ? 0 : offset, counts: Array.from(counts) };
}

/** Corrects the logarithm, which may be wrong by one at a bound. */
function indexOf(value: number, scale: number): number {
  const bound = (index: number): number => 2 ** (index / 2 ** scale);
  let index = Math.ceil(Math.log2(value) * 2 ** scale) - 1;
  while (bound(index) >= value) index--;
  while (bound(index + 1) < value) index++;
  return index;
}
