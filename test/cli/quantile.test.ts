import { describe, expect, it } from 'vitest';
import { bucketIncrease, bucketSum, quantile } from '../../src/cli/quantile.js';

describe('quantile', () => {
  const bounds = [10, 20, 40];

  it.each([
    // What Prometheus's histogram_quantile() answers for the same buckets.
    [[0, 4, 0, 0], 0.5, 15],
    [[0, 4, 0, 0], 1, 20],
    [[2, 2, 4, 0], 0.5, 20],
    [[2, 2, 4, 0], 0.75, 30],
    [[4, 0, 0, 0], 0.25, 2.5],
    [[0, 0, 0, 3], 0.5, 40],
    [[1, 0, 0, 99], 0.99, 40],
  ])('of %j at %d is %d', (counts, q, expected) => {
    expect(quantile(bounds, counts, q)).toBeCloseTo(expected, 12);
  });

  it('is not there when nothing is', () => {
    expect(quantile(bounds, [0, 0, 0, 0], 0.5)).toBeUndefined();
    expect(quantile(bounds, [], 0.5)).toBeUndefined();
    expect(quantile([], [5], 0.5)).toBeUndefined();
  });
});

it('takes what was there before away, bucket by bucket, and what fell has begun anew', () => {
  expect(bucketIncrease([5, 7, 1], [2, 7, 4])).toEqual([3, 0, 1]);
  expect(bucketIncrease([5, 7], undefined)).toEqual([5, 7]);
});

it('adds up histograms of several agents', () => {
  expect(
    bucketSum([
      [1, 2],
      [10, 20],
    ]),
  ).toEqual([11, 22]);
  expect(bucketSum([])).toEqual([]);
});
