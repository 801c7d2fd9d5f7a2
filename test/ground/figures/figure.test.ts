import { afterEach, expect, it } from 'vitest';
import {
  binaryText,
  boundText,
  bytesFigure,
  bytesRateText,
  bytesText,
  figureText,
  ifKnown,
  leastFigure,
  numberText,
  percent,
  perSecondFigure,
  perSecondText,
  plural,
  rangeText,
  separateUnitsWith,
  shortText,
  stepText,
  timeFigure,
  timeText,
  wholeText,
} from '../../../src/ground/figures/figure.js';
import { spanText } from '../../../src/ground/figures/clock.js';

type Formats = Readonly<Record<'bytes' | 'rate' | 'time' | 'number' | 'perSecond' | 'short', string>>;

/** Values at which a digit, a unit or a sign changes. */
const EDGES: readonly (readonly [value: number | bigint | null | undefined, texts: Formats])[] = [
  [0, { bytes: '0', rate: '0', time: '0', number: '0', perSecond: '0/s', short: '0' }],
  [-0, { bytes: '0', rate: '0', time: '0', number: '0', perSecond: '0/s', short: '0' }],
  [0n, { bytes: '0', rate: '0', time: '0', number: '0', perSecond: '0/s', short: '0' }],
  [5e-324, all('<0.1')],
  [0.04, all('<0.1')],
  [0.1, all('0.1')],
  [0.44, all('0.4')],
  [1, all('1')],
  [5.55, all('5.6')],
  [9.94, all('9.9')],
  [9.96, all('10')],
  [12, all('12')],
  [387.4, all('387')],
  [999.4, all('999')],
  [999.5, thousand('1.00', '1,000', '1,000')],
  [1e3, thousand('1.00', '1,000', '1,000')],
  [1_234, thousand('1.23', '1,234', '1,234')],
  [9_999.4, thousand('10.0', '9,999', '9,999')],
  [9_999.5, thousand('10.0', '10,000', '10.0 k')],
  [11_149, thousand('11.1', '11,149', '11.1 k')],
  [999_499, thousand('999', '999,499', '999 k')],
  [999_500, { ...million('1.00', '1.00 s'), number: '999,500', perSecond: '999,500/s' }],
  [9_999_999, { ...million('10.0', '10.0 s'), number: '9,999,999', perSecond: '9,999,999/s' }],
  [1e7, million('10.0', '10.0 s')],
  [252_000_000, million('252', '252 s')],
  [
    86_400_000_000,
    { bytes: '86.4 GB', rate: '86.4 GB/s', time: '86.4 ks', number: '86.4 G', perSecond: '86.4 G/s', short: '86.4 G' },
  ],
  [2 ** 63, exa('9.22')],
  [2n ** 63n, exa('9.22')],
  [2n ** 64n - 1n, exa('18.4')],
  [
    2 ** 80,
    {
      bytes: '1,209 ZB',
      rate: '1,209 ZB/s',
      time: '1,208,926 Ts',
      number: '1,209 Z',
      perSecond: '1,209 Z/s',
      short: '1,209 Z',
    },
  ],
  [-5, all('-5')],
  [-0.04, all('-<0.1')],
  [-999.5, thousand('-1.00', '-1,000', '-1,000')],
  [NaN, unknown()],
  [Infinity, unknown()],
  [-Infinity, unknown()],
  [null, unknown()],
  [undefined, unknown()],
];

function all(text: string): Formats {
  return {
    bytes: `${text} B`,
    rate: `${text} B/s`,
    time: `${text} µs`,
    number: text,
    perSecond: `${text}/s`,
    short: text,
  };
}

function thousand(text: string, number: string, short: string): Formats {
  return { bytes: `${text} kB`, rate: `${text} kB/s`, time: `${text} ms`, number, perSecond: `${number}/s`, short };
}

function million(text: string, time: string): Formats {
  const number = `${text} M`;
  return { bytes: `${text} MB`, rate: `${text} MB/s`, time, number, perSecond: `${number}/s`, short: number };
}

function exa(text: string): Formats {
  const number = `${text} E`;
  return {
    bytes: `${text} EB`,
    rate: `${text} EB/s`,
    time: `${text} Ts`,
    number,
    perSecond: `${number}/s`,
    short: number,
  };
}

function unknown(): Formats {
  return { bytes: '-', rate: '-', time: '-', number: '-', perSecond: '-', short: '-' };
}

it.each(EDGES)('%s has one style', (value, texts) => {
  expect({
    bytes: bytesText(value),
    rate: bytesRateText(value),
    time: timeText(value),
    number: numberText(value),
    perSecond: perSecondText(value),
    short: shortText(value),
  }).toEqual(texts);
});

it('separates the unit', () => {
  expect(bytesFigure(20_400_000_000)).toEqual({ value: '20.4', unit: 'GB' });
  expect(bytesFigure(0)).toEqual({ value: '0', unit: '' });
  expect(perSecondFigure(252e6)).toEqual({ value: '252', unit: 'M/s' });
});

it('has all digits of a whole number', () => {
  expect([wholeText(0), wholeText(12_345_678), wholeText(2n ** 64n)]).toEqual([
    '0',
    '12,345,678',
    '18,446,744,073,709,551,616',
  ]);
});

it.each([
  [256, '256 B'],
  [2 ** 10, '1 KiB'],
  [1536, '1.5 KiB'],
  [2 ** 16, '64 KiB'],
  [2 ** 32, '4 GiB'],
  [2 ** 63, '8 EiB'],
])('%d bytes in powers of 1024 are %s', (value, text) => expect(binaryText(value)).toBe(text));

it.each([
  [0, '0%'],
  [0.0001, '<1%'],
  [0.5, '50%'],
  [0.995, '>99%'],
  [1, '100%'],
  [NaN, '-'],
  [undefined, '-'],
])('the share %d is %s', (share, text) => expect(percent(share)).toBe(text));

it('shows bounds without zeros behind the point', () => {
  expect(boundText(bytesFigure(5e9))).toBe('5 GB');
  expect(boundText(bytesFigure(1.5e9))).toBe('1.5 GB');
  expect(boundText(bytesFigure(100e9))).toBe('100 GB');
});

it.each([
  [250, 500, '250 to 500 µs'],
  [500, 1000, '500 µs to 1 ms'],
  [0, 2500, '0 to 2.5 ms'],
])('%d to %d us is the range %s', (low, high, text) => {
  expect(rangeText(timeFigure(low), timeFigure(high))).toBe(text);
});

it('says of a lower bound that it is one', () => {
  expect(figureText(leastFigure(19, 'some'))).toBe('≥ 19');
  expect(figureText(leastFigure(25_000_000, 'some'))).toBe('≥ 25.0 M');
  expect(figureText(leastFigure(0, 'some'))).toBe('some');
});

it.each([
  [0, 2.5, '0'],
  [5, 2.5, '5.0'],
  [30, 10, '30'],
  [0.75, 0.25, '0.75'],
  [0.004, 0.002, '0.004'],
])('%d in steps of %d is %s', (value, step, text) => expect(stepText(value, step)).toBe(text));

it('formats only known values', () => {
  expect([ifKnown(0, String), ifKnown(undefined, String), ifKnown(null, String, 'none')]).toEqual(['0', '-', 'none']);
});

afterEach(() => separateUnitsWith(' '));

it('separates numbers from units and nouns as the page wants it', () => {
  separateUnitsWith('_');
  expect([timeText(387), bytesRateText(5.4e9), plural(2, 'ring'), spanText(5000), perSecondText(3)]).toEqual([
    '387_µs',
    '5.40_GB/s',
    '2_rings',
    '5_s',
    '3/s',
  ]);
});
