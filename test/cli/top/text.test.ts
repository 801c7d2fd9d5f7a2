import { expect, it } from 'vitest';
import { cut, fit, percent, short, sparkline, timeText, widthOf } from '../../../src/cli/top/text.js';

it.each([
  [undefined, '-'],
  [0, '0'],
  [0.04, '<0.1'],
  [0.14, '0.1'],
  [9.94, '9.9'],
  [9.96, '10'],
  [999, '999'],
  [999.6, '1k'],
  [1_250, '1.3k'],
  [412e6, '412M'],
  [2.5e15, '2.5P'],
  [1.8e22, '18Z'],
])('short(%s) is %s', (value, text) => {
  expect(short(value)).toBe(text);
});

it.each([
  [0.4, false, '0.4us'],
  [999.4, false, '999us'],
  [999.5, false, '1ms'],
  [1_234, false, '1.2ms'],
  [999_499, false, '999ms'],
  [999_500, false, '1s'],
  [10_000_000, true, '>10s'],
])('%d us, above: %s, is %s', (value, above, text) => {
  expect(timeText({ value, above })).toBe(text);
});

it.each([
  [undefined, '-'],
  [0, '0%'],
  [0.0002, '<1%'],
  [0.994, '99%'],
  [1, '100%'],
])('percent(%s) is %s', (share, text) => {
  expect(percent(share)).toBe(text);
});

it('fits names of any script, and of no good will, into their columns', () => {
  const names = [
    'agent',
    'a-name-that-is-much-too-long',
    '模型模型模型模型',
    'a\x1b[2Jb',
    '\u202egnp.exe',
    'e\u0301e\u0301',
  ];
  expect(names.map((name) => fit(name, 10))).toEqual([
    'agent     ',
    'a-name-th…',
    '模型模型… ',
    'a\\x1b[2Jb ',
    '\\u{202e}g…',
    'e\u0301e\u0301        ',
  ]);
  for (const name of names) expect(widthOf(fit(name, 10))).toBe(10);
  expect(fit('12', 5, 'right')).toBe('   12');
  expect([cut('abc', 0), cut('abc', 1), cut('abc', 3)]).toEqual(['', '…', 'abc']);
});

it('draws the last values against the largest of them, and never something as nothing', () => {
  expect(sparkline([100, 0, 1, 400, 800], 6, true)).toBe(' ▁ ▁▄█');
  expect(sparkline([100, 0, 1, 400, 800], 3, true)).toBe('▁▄█');
  expect(sparkline([0, 0], 3, true)).toBe('   ');
  expect(sparkline([1, 800], 3, false)).toBe(' .@');
});
