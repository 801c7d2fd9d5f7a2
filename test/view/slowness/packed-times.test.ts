import { expect, it } from 'vitest';
import type { ExponentialTally } from '../../../src/ground/exponential.js';
import { eachCount, numberAt, packGrowth, pushNumber } from '../../../src/view/slowness/packed-times.js';

function tally(offset: number, counts: readonly number[], zeroCount = 0): ExponentialTally {
  return { scale: 3, zeroCount, offset, counts: Float64Array.from(counts) };
}

function grown(before: ExponentialTally | undefined, now: ExponentialTally): [place: number, count: number][] {
  const words: number[] = [];
  expect(packGrowth(before, now, words)).toBe(true);
  const counts: [number, number][] = [];
  eachCount(Uint16Array.from(words), 0, words.length, (place, count) => counts.push([place, count]));
  return counts;
}

it('keeps counts of every length exactly', () => {
  expect(grown(undefined, tally(8, [1, 62, 63, 64, 65_535, 65_536, 4_294_967_295, 2], 70))).toEqual([
    [0, 70],
    [10, 1],
    [11, 62],
    [12, 63],
    [13, 64],
    [14, 65_535],
    [15, 65_536],
    [16, 4_294_967_295],
    [17, 2],
  ]);
});

it('keeps what grew, in the highest place too', () => {
  expect(grown(tally(1020, [5, 7]), tally(1019, [3, 5, 107, 9]))).toEqual([
    [1021, 3],
    [1023, 100],
    [1023, 9],
  ]);
});

it('tells that a count fell', () => {
  expect(packGrowth(tally(8, [5]), tally(8, [4]), [])).toBe(false);
  expect(packGrowth(tally(8, [5], 1), tally(8, [5]), [])).toBe(false);
  expect(packGrowth(tally(8, [5]), tally(9, [5]), [])).toBe(false);
});

it.each([0, 1, 65_535, 65_536, 2 ** 45, Number.MAX_SAFE_INTEGER])('keeps the number %d', (value) => {
  const words = [7];
  pushNumber(value, 4, words);
  expect(words).toHaveLength(5);
  expect(numberAt(Uint16Array.from(words), 1, 4)).toBe(value);
});
