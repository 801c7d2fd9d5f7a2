/** Rows of the page's distributions: powers of two, from exponential counts. */
import { describe, expect, it } from 'vitest';
import { bucketRows } from '../../src/page/browser/panel/bucket-rows.js';
import { exponentialTally } from '../support/exponential.js';

describe('the rows of a distribution', () => {
  const rowsOf = (...values: readonly number[]) =>
    bucketRows(exponentialTally(values), (bound) => `${bound} us`).map(({ label, count }) => [label, count]);

  it('are powers of two from the lowest to the highest with values, each with its upper bound', () => {
    expect(rowsOf(3, 4, 5, 8, 8, 33)).toEqual([
      ['4 us', 2],
      ['8 us', 3],
      ['16 us', 0],
      ['32 us', 0],
      ['64 us', 1],
    ]);
  });

  it('distinguish 0 and 1', () => {
    expect(rowsOf(0, 0, 1, 2)).toEqual([
      ['0 us', 2],
      ['1 us', 1],
      ['2 us', 1],
    ]);
  });

  it('are absent without values', () => {
    expect(rowsOf()).toEqual([]);
  });
});
