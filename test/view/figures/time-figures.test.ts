import { describe, expect, it } from 'vitest';
import { bucketsSince, quantile } from '../../../src/view/figures/time-figures.js';

const bounds = [10, 20, 40];

describe('quantile', () => {
  it.each([
    // Results of Prometheus's histogram_quantile() for the same buckets.
    [[0, 4, 0, 0], 0.5, 15],
    [[0, 4, 0, 0], 1, 20],
    [[2, 2, 4, 0], 0.5, 20],
    [[2, 2, 4, 0], 0.75, 30],
  ])('of %j at %d is %d', (counts, share, expected) => {
    expect(quantile({ bounds, counts }, share)).toEqual({ value: expected });
  });

  it('in the first bucket has only the upper bound: its values may have any order of magnitude', () => {
    expect(quantile({ bounds, counts: [4, 0, 0, 0] }, 0.25)).toEqual({ value: 10, limit: 'below' });
    expect(quantile({ bounds, counts: [2, 2, 0, 0] }, 0.5)).toEqual({ value: 10, limit: 'below' });
  });

  it.each([
    [[0, 0, 0, 3], 0.5],
    [[1, 0, 0, 99], 0.99],
  ])('of %j at %d is above the last bound', (counts, share) => {
    expect(quantile({ bounds, counts }, share)).toEqual({ value: 40, limit: 'above' });
  });

  it('is absent without values', () => {
    expect(quantile({ bounds, counts: [0, 0, 0, 0] }, 0.5)).toBeUndefined();
    expect(quantile({ bounds, counts: [] }, 0.5)).toBeUndefined();
  });
});

it('subtracts the previous counts by bucket; a histogram with a fallen count has restarted', () => {
  const since = (before: number[] | undefined, counts: number[]) =>
    bucketsSince(before && { bounds, counts: before }, { bounds, counts }).counts;
  expect(since([2, 7, 1, 0], [5, 7, 4, 0])).toEqual([3, 0, 3, 0]);
  expect(since([2, 7, 4, 0], [5, 7, 1, 0])).toEqual([5, 7, 1, 0]);
  expect(since(undefined, [5, 7, 0, 0])).toEqual([5, 7, 0, 0]);
  expect(since([1], [5, 7, 0, 0])).toEqual([5, 7, 0, 0]);
});
