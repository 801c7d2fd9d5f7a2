import { expect, it } from 'vitest';
import {
  bytesFigure,
  bytesRateFigure,
  counted,
  countFigure,
  figureText,
  rateFigure,
  shortText,
  spanText,
  timeFigure,
} from '../../../src/cli/figures/figure.js';

/** Shows no-break spaces. */
const shown = (text: string): string => text.replaceAll('\u00A0', '_');

it.each([
  [0, '0'],
  [0.4, '<1_B/s'],
  [829, '829_B/s'],
  [999.6, '1.00_kB/s'],
  [5_400_000, '5.40_MB/s'],
  [33_600_000_000, '33.6_GB/s'],
  [2 ** 80, '1,209_ZB/s'],
  [undefined, '–'],
  [null, '–'],
  [NaN, '–'],
])('%d bytes per second are %s', (value, text) => expect(shown(figureText(bytesRateFigure(value)))).toBe(text));

it('separates the unit of bytes', () => {
  expect(bytesFigure(20_400_000_000)).toEqual({ value: '20.4', unit: 'GB' });
  expect(bytesFigure(0)).toEqual({ value: '0', unit: '' });
});

it.each([
  [0.04, '0.0400_µs'],
  [0.0004, '<0.001_µs'],
  [5.55, '5.55_µs'],
  [12, '12.0_µs'],
  [387.4, '387_µs'],
  [999.6, '1.00_ms'],
  [7_600, '7.60_ms'],
  [41_249_000, '41.2_s'],
  [86_400_000_000, '86,400_s'],
])('%d microseconds are %s', (us, text) => expect(shown(figureText(timeFigure(us)))).toBe(text));

it.each([
  [1, '1'],
  [10_887, '10,887'],
  [9_999_999, '9,999,999'],
  [10_000_000, '10.0_M'],
  [252_000_000, '252_M'],
  [4_540_000_000, '4.54_G'],
])('the count %d is %s', (count, text) => expect(shown(figureText(countFigure(count)))).toBe(text));

it.each([
  [0.04, '<0.1'],
  [5.8, '5.8'],
  [310.4, '310'],
  [10_887, '10,887'],
  [252_000_000, '252_M'],
])('the rate %d is %s', (rate, text) => expect(shown(figureText(rateFigure(rate)))).toBe(text));

it.each([
  [0, '0_rings'],
  [1, '1_ring'],
  [2, '2_rings'],
  [12_000, '12,000_rings'],
])('counts %d rings', (count, text) => expect(shown(counted(count, 'ring'))).toBe(text));

it.each([
  [0, '0_s'],
  [12_900, '12_s'],
  [60_000, '1_min'],
  [7_200_000, '2_h'],
  [200_000_000, '2_d'],
])('%d ms span %s', (ms, text) => expect(shown(spanText(ms))).toBe(text));

it.each([
  [0, '0'],
  [5.8, '5.80'],
  [310, '310'],
  [999.6, '1.00k'],
  [2995, '3.00k'],
  [11_149, '11.1k'],
  [2_500_000, '2.50M'],
])('prints %d at the end of a line as %s', (value, text) => expect(shortText(value)).toBe(text));
