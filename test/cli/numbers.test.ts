import { expect, it } from 'vitest';
import { binaryBytes, bytes, count, duration, percent } from '../../src/cli/figures/numbers.js';

it.each([
  [0, '0 us'],
  [0.04, '<0.1 us'],
  [9.94, '9.9 us'],
  [999.4, '999 us'],
  [999.6, '1 ms'],
  [2_140, '2.1 ms'],
  [999_400, '999 ms'],
  [1_500_000, '1.5 s'],
  [86_400_000_000, '86,400 s'],
])('%d us is %s', (us, text) => expect(duration(us)).toBe(text));

it.each([
  [0, '0%'],
  [0.0001, '<1%'],
  [0.5, '50%'],
  [0.995, '>99%'],
  [1, '100%'],
])('%d is %s', (share, text) => expect(percent(share)).toBe(text));

it.each([
  [256, '256 B'],
  [2 ** 16, '64 KiB'],
  [2 ** 32, '4 GiB'],
  [1536, '1.5 KiB'],
])('%d bytes are %s', (value, text) => expect(binaryBytes(value)).toBe(text));

it.each([
  [0, '0'],
  [9_999_999, '9,999,999'],
  [12_345_678, '12.3M'],
  [4.5e9, '4.5B'],
  [5.863e18, '5.9e18'],
])('%d is %s', (value, text) => expect(count(value)).toBe(text));

it('has units for the largest sums that there are', () => {
  expect(bytes(2 ** 64)).toBe('18 EB');
  expect(bytes(5e23)).toBe('500 ZB');
});
