import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { percentilesOf } from '../../../src/view/figures/percentiles.js';
import { DISTRIBUTIONS, durationsOf, exactQuantile } from '../../support/durations.js';
import { exponentialTally } from '../../support/exponential.js';

const of = (...values: number[]) => percentilesOf(exponentialTally(values));
const repeated = (value: number, times: number): number[] => Array.from({ length: times }, () => value);

describe('percentiles', () => {
  it('are exact for small whole numbers, 0 included', () => {
    expect(of(...repeated(3, 500))).toEqual({ p50: 3, p90: 3, p99: 3, max: 3, count: 500 });
    expect(of(...repeated(0, 50), ...repeated(1, 40), ...repeated(7, 9), 19)).toMatchObject({
      p50: 0,
      p90: 1,
      p99: 7,
      max: 19,
    });
    expect(of(0, 0)).toEqual({ p50: 0, p90: 0, p99: 0, max: 0, count: 2 });
  });

  it('are values that occurred: those of few values include the largest one', () => {
    expect(of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)).toEqual({ p50: 5, p90: 9, p99: 10, max: 10, count: 10 });
    expect(of(2, 12)).toEqual({ p50: 2, p90: 12, p99: 12, max: 12, count: 2 });
    expect(of(5)).toEqual({ p50: 5, p90: 5, p99: 5, max: 5, count: 1 });
  });

  it('have the nearest rank', () => {
    expect(of(...repeated(2, 90), ...repeated(4, 10))).toMatchObject({ p50: 2, p90: 2, p99: 4 });
    expect(of(...repeated(2, 89), ...repeated(4, 11))).toMatchObject({ p50: 2, p90: 4, p99: 4 });
    expect(of(...repeated(2, 693), ...repeated(4, 7))).toMatchObject({ p99: 2, max: 4 });
  });

  it('are those of shares, too, of which there may be less than one', () => {
    const shares = { scale: 2, zeroCount: 0, offset: -1, counts: [0.375, 0.125, 0.25] };
    const alike = { ...shares, counts: [3, 1, 2] };
    expect(percentilesOf(shares)).toEqual({ ...percentilesOf(alike), count: 1 });
    expect(percentilesOf(shares)).toMatchObject({ p50: 1 });
  });

  it('are absent without values', () => {
    expect(of()).toBeUndefined();
  });

  it.each(Object.keys(DISTRIBUTIONS))('of %s durations are within 2.3 % of the exact quantiles', (distribution) => {
    const values = durationsOf(distribution, 20_000);
    const { p50, p90, p99, max } = of(...values)!;
    for (const [quantile, found] of [
      [0.5, p50],
      [0.9, p90],
      [0.99, p99],
      [1, max],
    ] as const) {
      const wanted = exactQuantile(values, quantile);
      expect(Math.abs(found - wanted) / wanted, `${quantile}: ${found} for ${wanted}`).toBeLessThan(0.023);
    }
  });

  it('of any values lie in the bucket of the exact quantile', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 1e12 }), { minLength: 1 }), (values) => {
        const { p50, p90, p99, max } = of(...values)!;
        const alone = [0.5, 0.9, 0.99, 1].map((quantile) => of(exactQuantile(values, quantile))!.max);
        expect([p50, p90, p99, max]).toEqual(alone);
      }),
    );
  });
});
