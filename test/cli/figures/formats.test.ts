import { expect, it } from 'vitest';
import {
  age,
  amount,
  binaryBytes,
  bytes,
  count,
  dateAndTime,
  duration,
  ifKnown,
  percent,
  preciseBytes,
  short,
  shortDuration,
} from '../../../src/cli/figures/formats.js';

it.each([
  [0, '0 us'],
  [0.04, '0.04 us'],
  [9.94, '9.94 us'],
  [12, '12 us'],
  [999.4, '999 us'],
  [999.6, '1 ms'],
  [1_070, '1.07 ms'],
  [1_200, '1.2 ms'],
  [41_249, '41.2 ms'],
  [1_500_000, '1.5 s'],
  [86_400_000_000, '86,400 s'],
  [2 ** 64, '18.4T s'],
])('%d us is %s', (us, text) => expect(duration(us)).toBe(text));

it.each([
  [4_096, '4.1 kB'],
  [5_363_000, '5.36 MB'],
  [2 ** 64, '18.4 EB'],
])('%d bytes with three digits are %s', (size, text) => expect(preciseBytes(size)).toBe(text));

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

it('has units for the largest possible sums', () => {
  expect(bytes(2 ** 64)).toBe('18 EB');
  expect(bytes(5e23)).toBe('500 ZB');
});

it.each([
  [0, '0 B'],
  [0.4, '0.4 B'],
  [999, '999 B'],
  [999.6, '1 kB'],
  [1_000, '1 kB'],
  [1_150, '1.2 kB'],
  [1_234, '1.2 kB'],
  [9_949, '9.9 kB'],
  [9_951, '10 kB'],
  [412_000_000, '412 MB'],
  [11.4e9, '11 GB'],
  [2.5e15, '2.5 PB'],
  [4.2e18, '4.2 EB'],
])('bytes(%d) is %s', (value, text) => {
  expect(bytes(value)).toBe(text);
});

it.each([
  [0, '0'],
  [0.04, '<0.1'],
  [0.1, '0.1'],
  [2, '2'],
  [9.96, '10'],
  [310.4, '310'],
  [2_500_000, '2,500,000'],
])('amount(%d) is %s', (value, text) => {
  expect(amount(value)).toBe(text);
});

it.each([
  [0, '0'],
  [0.09, '<0.1'],
  [0.14, '0.1'],
  [9.94, '9.9'],
  [9.96, '10'],
  [999, '999'],
  [999.6, '1k'],
  [1_150, '1.2k'],
  [1_250, '1.3k'],
  [412e6, '412M'],
  [2.5e15, '2.5P'],
  [1.8e22, '18Z'],
])('short(%s) is %s', (value, text) => {
  expect(short(value)).toBe(text);
});

it.each([
  [0.4, '0.4us'],
  [999.4, '999us'],
  [999.5, '1ms'],
  [1_234, '1.23ms'],
  [12.345, '12.3us'],
  [999_499, '999ms'],
  [999_500, '1s'],
  [10_000_000, '10s'],
  [1.8e19, '18Ts'],
])('shortDuration(%d) is %s', (us, text) => {
  expect(shortDuration(us)).toBe(text);
});

it.each([
  [0, '0s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [3 * 3_600_000, '3h'],
  [9 * 86_400_000, '9d'],
])('an age of %d ms is %s', (ms, text) => expect(age(ms)).toBe(text));

it('writes local time, two digits each', () => {
  expect(dateAndTime(new Date(2026, 0, 2, 3, 4, 5))).toBe('2026-01-02 03:04:05');
});

it('formats only known values', () => {
  expect([ifKnown(0, String), ifKnown(undefined, String), ifKnown(null, String, '–')]).toEqual(['0', '-', '–']);
});
