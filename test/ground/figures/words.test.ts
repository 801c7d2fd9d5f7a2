import { expect, it } from 'vitest';
import { listed, plural, times } from '../../../src/ground/figures/figure.js';

it.each([
  [0, '0 rings'],
  [1, '1 ring'],
  [1n, '1 ring'],
  [2, '2 rings'],
  [12_345_678, '12,345,678 rings'],
])('counts %d rings', (count, text) => expect(plural(count, 'ring')).toBe(text));

it('counts nouns with another plural, and times', () => {
  expect(plural(2, 'entry', 'entries')).toBe('2 entries');
  expect([times(1), times(214)]).toEqual(['once', '214 times']);
});

it.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and 1 more'],
])('lists %j as %s', (names, text) => expect(listed(names)).toBe(text));

it('lists as many as wanted', () => expect(listed(['a', 'b', 'c', 'd'], 3)).toBe('a, b, c and 1 more'));
