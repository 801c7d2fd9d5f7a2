import { describe, expect, it } from 'vitest';
import { sizeBars, timeBars, type Times } from '../../../src/top/screen/distributions.js';
import type { Line } from '../../../src/top/screen/line.js';
import { exponentialTally } from '../../support/exponential.js';
import { buckets } from '../samples.js';

const textsOf = (lines: readonly Line[]): string[] =>
  lines.map((line) =>
    line
      .map(({ text }) => text)
      .join('')
      .replaceAll(/ +/g, ' ')
      .trim(),
  );
const barsOf = (counts: Times['counts']): Line[] =>
  timeBars('TRANSFER TIME', { counts, since: 'all so far' }, 'p99', 40, false);
const timesOf = (...values: number[]): string[] => textsOf(barsOf(exponentialTally(values))).slice(1);

describe('transfer times', () => {
  it('are counted in ranges, from the first to the last one with values', () => {
    expect(timesOf(0, 1, 2, 2, 6)).toEqual([
      'up to 1 µs ######### 2',
      '1 to 2.5 µs ######### 2',
      '2.5 to 5 µs 0',
      '5 to 10 µs ##### 1',
    ]);
    expect(timesOf(300, 700, 2_000_000)).toHaveLength(12);
    expect(timesOf(700).at(-1)).toBe('500 µs to 1 ms ######### 1');
    expect(timesOf(20_000).at(-1)).toBe('10 to 25 ms ######### 1');
  });

  it('of many orders of magnitude join the shortest ones', () => {
    const lines = timesOf(1, 2, 20, 30_000_000);
    expect(lines).toHaveLength(14);
    expect(lines[0]).toBe('up to 2.5 ms ######### 3');
  });

  it('have the range of their p99 in bold', () => {
    const values = [...Array<number>(98).fill(3), 40, 40];
    const lines = barsOf(exponentialTally(values));
    expect(lines.filter(([label]) => label!.style === 'bold').map(([label]) => label!.text.trim())).toEqual([
      'TRANSFER TIME',
      '25 to 50 µs',
    ]);
  });

  it('of an exposition have its bounds', () => {
    const lines = barsOf(buckets(1, 0, 2, 0, 0, 4));
    expect(textsOf(lines).slice(1)).toEqual([
      'up to 10 µs ## 1',
      '10 to 100 µs 0',
      '100 µs to 1 ms ##### 2',
      '1 to 10 ms 0',
      '10 ms to 10 s 0',
      'over 10 s ######### 4',
    ]);
  });

  it('say that there are none', () => {
    expect(timesOf()).toEqual(['no transfers']);
    expect(textsOf(barsOf(undefined))[1]).toBe('no transfers');
  });
});

it('counts sizes by direction up to powers of four', () => {
  const [txSizes, rxSizes] = [exponentialTally([4_096, 4_096, 5_000, 65_536], 0), exponentialTally([4_097, 1], 0)];
  expect(textsOf(sizeBars({ txSizes, rxSizes }, 60, false))).toEqual([
    'SIZES so far, up to tx rx',
    '1 B 0 ##### 1',
    '4 B 0 0',
    '16 B 0 0',
    '64 B 0 0',
    '256 B 0 0',
    '1 KiB 0 0',
    '4 KiB ######### 2 0',
    '16 KiB ##### 1 ##### 1',
    '64 KiB ##### 1 0',
  ]);
  expect(sizeBars({ txSizes: exponentialTally([], 0), rxSizes: exponentialTally([], 0) }, 60, false)).toEqual([]);
  expect(sizeBars(undefined, 60, false)).toEqual([]);
});
