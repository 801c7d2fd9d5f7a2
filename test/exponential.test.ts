import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  atScale,
  bucketMiddle,
  exponentialCount,
  exponentialSince,
  exponentialSum,
  highestValue,
  lowestValue,
  TALLY_SCALE,
} from '../src/ground/exponential.js';
import { bucketOf } from '../src/ground/exponential-bucket.js';
import { comparable, exponentialTally } from './support/exponential.js';

const values = fc.array(fc.oneof(fc.nat(40), fc.nat(), fc.double({ min: 0.001, max: 1, noNaN: true })));
const scale = fc.integer({ min: -8, max: 6 });

describe('the value of a bucket', () => {
  it('is exact up to 26, and within 2.3 % above', () => {
    const middleOf = (value: number) => {
      const tally = exponentialTally([value]);
      return bucketMiddle(tally, tally.offset);
    };
    for (let n = 1; n <= 26; n++) expect(middleOf(n)).toBe(n);
    fc.assert(
      fc.property(fc.integer({ min: 27, max: Number.MAX_SAFE_INTEGER }), (n) => {
        expect(Math.abs(middleOf(n) - n) / n).toBeLessThan(0.023);
      }),
    );
  });

  it('is the middle of the whole numbers, or of the bucket if it has none', () => {
    expect(bucketMiddle({ scale: 0 }, 2)).toBe((5 + 8) / 2);
    expect(bucketMiddle({ scale: 0 }, -1)).toBe(1);
    expect(bucketMiddle({ scale: 0 }, -2)).toBe((0.25 + 0.5) / 2);
    expect(bucketMiddle({ scale: -1 }, 0)).toBe((2 + 4) / 2);
    expect(bucketMiddle({ scale: 1 }, 0)).toBeCloseTo((1 + Math.SQRT2) / 2);
  });

  it('bounds the lowest and the highest value', () => {
    const tally = exponentialTally([5, 7, 9]);
    expect([lowestValue(tally), highestValue(tally)]).toEqual([5, 9]);
    expect([lowestValue(exponentialTally([0, 7])), highestValue(exponentialTally([0, 7]))]).toEqual([0, 7]);
    expect([lowestValue(exponentialTally([0])), highestValue(exponentialTally([0]))]).toEqual([0, 0]);
    expect([lowestValue(exponentialTally([])), highestValue(exponentialTally([]))]).toEqual([undefined, undefined]);
  });
});

describe('the bucket of a whole number', () => {
  const bucket = (value: bigint): number => bucketOf(Number(value >> 32n), Number(value & 0xffff_ffffn));

  it('has the number between its bounds', () => {
    // 2^i < value^16 <= 2^(i + 1)
    const exact = (value: bigint): number => (value === 1n ? -1 : (value ** 16n - 1n).toString(2).length - 1);
    for (let i = 0n; i < 64n; i++) expect(bucket(2n ** i)).toBe(exact(2n ** i));
    for (let n = 1n; n < 70_000n; n++) expect(bucket(n)).toBe(exact(n));
    fc.assert(
      fc.property(fc.bigInt(1n, 2n ** 52n), (n) => {
        expect(bucket(n)).toBe(exact(n));
      }),
    );
  });

  it('has a middle within 2.3 % of every number', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 2n ** 64n - 1n), (n) => {
        const middle = bucketMiddle({ scale: TALLY_SCALE }, bucket(n));
        expect(Math.abs(middle - Number(n)) / Number(n)).toBeLessThan(0.023);
      }),
    );
    expect(bucket(2n ** 64n - 1n)).toBe(64 * 16 - 1);
  });
});

describe('a lower scale', () => {
  it('has the counts of the values themselves at that scale', () => {
    fc.assert(
      fc.property(values, scale, (all, lower) => {
        const tally = exponentialTally(all, 6);
        expect(comparable(atScale(tally, lower))).toEqual(comparable(exponentialTally(all, lower)));
        expect(exponentialCount(atScale(tally, lower))).toBe(all.length);
      }),
    );
  });

  it('merges buckets with negative indices downwards', () => {
    const tally = { scale: 4, zeroCount: 0, offset: -3, counts: [1, 2, 4, 8] };
    expect(comparable(atScale(tally, 3))).toEqual({ scale: 3, zeroCount: 0, offset: -2, counts: [1, 6, 8] });
  });

  it('is not made of a tally that is coarser', () => {
    const tally = exponentialTally([3], 2);
    expect(atScale(tally, 4)).toBe(tally);
  });
});

describe('values since an earlier tally', () => {
  it('are those that came later', () => {
    fc.assert(
      fc.property(values, values, scale, scale, (before, later, one, other) => {
        const since = exponentialSince(exponentialTally(before, one), exponentialTally([...before, ...later], other));
        expect(comparable(since)).toEqual(comparable(exponentialTally(later, Math.min(one, other))));
      }),
    );
  });

  it('are all values if there is none, or if any count fell', () => {
    const now = exponentialTally([0, 3, 9]);
    expect(exponentialSince(undefined, now)).toBe(now);
    for (const before of [[0, 0], [3, 3], [2], [10]]) expect(exponentialSince(exponentialTally(before), now)).toBe(now);
  });

  it('leave the earlier tally and the present one as they were', () => {
    const [before, now] = [exponentialTally([3, 9]), exponentialTally([3, 9, 9])];
    exponentialSince(before, now);
    expect([before, now]).toEqual([exponentialTally([3, 9]), exponentialTally([3, 9, 9])]);
  });
});

describe('a sum of tallies', () => {
  it('has the values of all, at the lowest scale', () => {
    const tallies = fc.array(fc.record({ of: values, scale }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(tallies, (all) => {
        const sum = exponentialSum(all.map((one) => exponentialTally(one.of, one.scale)));
        const lowest = Math.min(...all.map((one) => one.scale));
        expect(comparable(sum!)).toEqual(
          comparable(
            exponentialTally(
              all.flatMap((one) => one.of),
              lowest,
            ),
          ),
        );
      }),
    );
  });

  it('is undefined without tallies', () => {
    expect(exponentialSum([])).toBeUndefined();
  });
});
