import { describe, expect, it } from 'vitest';
import { type Area, bar, decades, graph, logHeights, niceTop, sparkline } from '../../../src/top/screen/graph.js';
import type { Line } from '../../../src/top/screen/line.js';

const textOf = (lines: readonly Line[]): string[] => lines.map((line) => line.map(({ text }) => text).join(''));
const area = (...upper: number[]): Area => ({ upper, upperStyle: 'tx' });

describe('a graph', () => {
  it('has two columns and four rows of dots in a character', () => {
    expect(textOf(graph(area(0.25, 0.5, 0.75, 1), 2, 1, true))).toEqual(['⣠⣾']);
    expect(textOf(graph(area(0.5, 1), 1, 2, true))).toEqual(['⢸', '⣿']);
  });

  it('has a dot for any value above 0, and none for 0 and a gap', () => {
    expect(textOf(graph(area(0.001, 0, NaN, -1), 2, 2, true))).toEqual(['⠀⠀', '⡀⠀']);
  });

  it('goes no higher than its top', () => {
    expect(textOf(graph(area(7, Infinity), 1, 1, true))).toEqual(['⣿']);
  });

  it('is made of ASCII without unicode', () => {
    expect(textOf(graph(area(0.25, 0, 0.5, 0.1, 1, 1, 0, 0), 4, 1, false))).toEqual(['.:| ']);
  });

  it('has the style of the lower area below it, and marks columns above all', () => {
    const stacked: Area = { upper: [1, 1, 1, 1], lower: [0.5, 0.5, 0, 0], upperStyle: 'tx', lowerStyle: 'rx' };
    const styles = (given: Area) => graph(given, 2, 2, true).map((line) => line.map(({ style }) => style));
    expect(styles(stacked)).toEqual([['tx'], ['rx', 'tx']]);
    expect(styles({ ...stacked, marked: [0, 0, 0, 1] })).toEqual([
      ['tx', 'warn'],
      ['rx', 'warn'],
    ]);
  });
});

it('draws a sparkline, and only 0 and gaps as blanks', () => {
  expect(sparkline([0.25, 0, 0.002, NaN, 1, 2], 2, true)).toBe('▁ ▁ ▄█');
  expect(sparkline([0.001, 1], 1, false)).toBe('.@');
});

it('draws bars of eighths, and any share above 0', () => {
  expect([bar(0, 4, true), bar(0.001, 4, true), bar(0.5, 4, true), bar(1, 4, true)]).toEqual([
    '    ',
    '▏   ',
    '██  ',
    '████',
  ]);
  expect([bar(0.34, 4, true), bar(2, 2, true), bar(0.1, 4, false), bar(1, 4, false)]).toEqual([
    '█▍  ',
    '██',
    '#   ',
    '####',
  ]);
});

it.each([
  [0, 1],
  [1, 1],
  [1.01, 1.5],
  [26, 30],
  [44, 50],
  [0.07, 0.08],
  [8.1e9, 1e10],
])('the top for %d is %d', (value, top) => {
  expect(niceTop(value)).toBeCloseTo(top, 10);
});

it.each([
  [100, 1_000, 100, 1_000],
  [99, 1_001, 10, 10_000],
  [5, 7, 1, 10],
])('the decades for %d to %d are %d to %d', (lowest, highest, bottom, top) => {
  expect(decades(lowest, highest)).toEqual({ bottom, top });
});

it('has logarithmic heights, with gaps', () => {
  const heights = logHeights(Float64Array.of(10, 100, 1_000, NaN), { bottom: 10, top: 1_000 });
  expect([...heights]).toEqual([0.01, 0.5, 1, NaN]);
});
