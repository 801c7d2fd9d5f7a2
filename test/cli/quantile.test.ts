import { describe, expect, it } from 'vitest';
import { bucketIncrease, countsOfAll, countsSince, quantile } from '../../src/cli/figures/quantile.js';

describe('quantile', () => {
  const bounds = [10, 20, 40];

  it.each([
    // What Prometheus's histogram_quantile() answers for the same buckets.
    [[0, 4, 0, 0], 0.5, 15],
    [[0, 4, 0, 0], 1, 20],
    [[2, 2, 4, 0], 0.5, 20],
    [[2, 2, 4, 0], 0.75, 30],
    [[4, 0, 0, 0], 0.25, 2.5],
  ])('of %j at %d is %d', (counts, share, expected) => {
    const { value, above } = quantile({ bounds, counts }, share)!;
    expect(value).toBeCloseTo(expected, 12);
    expect(above).toBe(false);
  });

  it.each([
    [[0, 0, 0, 3], 0.5],
    [[1, 0, 0, 99], 0.99],
  ])('of %j at %d is above the last bound', (counts, share) => {
    expect(quantile({ bounds, counts }, share)).toEqual({ value: 40, above: true });
  });

  it('is not there when nothing is', () => {
    expect(quantile({ bounds, counts: [0, 0, 0, 0] }, 0.5)).toBeUndefined();
    expect(quantile({ bounds, counts: [] }, 0.5)).toBeUndefined();
  });
});

it('takes what was there before away, bucket by bucket; a histogram in which one fell has begun anew', () => {
  expect(countsSince([2, 7, 1], [5, 7, 4])).toEqual([3, 0, 3]);
  expect(countsSince([2, 7, 4], [5, 7, 1])).toEqual([5, 7, 1]);
  expect(countsSince(undefined, [5, 7])).toEqual([5, 7]);
  expect(countsSince([1], [5, 7])).toEqual([5, 7]);
  const now = { bounds: [1], counts: [3, 3] };
  expect(bucketIncrease({ bounds: [1], counts: [1, 0] }, now)).toEqual({ bounds: [1], counts: [2, 3] });
  expect(bucketIncrease(undefined, now)).toEqual(now);
  expect(bucketIncrease(now, undefined)).toBeUndefined();
});

it('adds up histograms of several agents', () => {
  const all = [
    [1, 2],
    [10, 20],
  ];
  expect(countsOfAll(all)).toEqual([11, 22]);
  expect(countsOfAll([])).toEqual([]);
});
