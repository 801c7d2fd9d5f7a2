import { expect, it } from 'vitest';
import { tooLowRanges } from '../../src/page/browser/charts/too-low.js';

const every = (ms: number, count: number): number[] => Array.from({ length: count }, (_, i) => (i + 1) * ms);

it('marks the points in which a ring was found full, and joins those that belong to one finding', () => {
  const times = every(5000, 40);
  const full = times.map((ms) => (ms === 15_000 || ms === 60_000 || ms === 180_000 ? 2 : 0));
  expect(tooLowRanges(times, full)).toEqual([
    [10, 60],
    [175, 180],
  ]);
});

it('has none without a history, or where nothing is known', () => {
  expect(tooLowRanges([], [])).toEqual([]);
  expect(tooLowRanges(every(1000, 3), [null, 0, null])).toEqual([]);
  expect(tooLowRanges([1000], [3])).toEqual([[1, 1]]);
});
