import { expect, it } from 'vitest';
import { dateAndTime, intervalText, momentText, spanText, timeOfDay } from '../../../src/ground/figures/clock.js';

it.each([
  [-5, '0 s'],
  [0, '0 s'],
  [999, '0 s'],
  [12_900, '12 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [7_200_000, '2 h'],
  [200_000_000, '2 d'],
])('%d ms span %s', (ms, text) => expect(spanText(ms)).toBe(text));

it('rounds a span up where it is an upper bound', () => {
  expect([spanText(61_000, Math.ceil), spanText(60_000, Math.ceil)]).toEqual(['2 min', '1 min']);
});

it.each([
  [100, '100 ms'],
  [999, '999 ms'],
  [1000, '1 s'],
  [1234, '1.234 s'],
  [60_000, '60 s'],
])('the interval of %d ms is %s', (ms, text) => expect(intervalText(ms)).toBe(text));

it('writes local time, two digits each, and the date of what is longer ago than a day', () => {
  const ms = new Date(2026, 0, 2, 3, 4, 5).getTime();
  expect(timeOfDay(ms)).toBe('03:04:05');
  expect(dateAndTime(ms)).toBe('2026-01-02 03:04:05');
  expect(momentText(ms, ms + 86_399_999)).toBe('03:04:05');
  expect(momentText(ms, ms + 86_400_000)).toBe('2026-01-02 03:04:05');
});
