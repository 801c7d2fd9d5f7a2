import { expect, it } from 'vitest';
import { cut, fit, table, widthOf } from '../../../src/view/figures/table.js';

it('sets the first and the last column left and those between right', () => {
  const rows = [
    ['a', '1', 'x'],
    ['long', '1234', 'yy'],
  ];
  expect(table(['N', 'NUM', 'S'], rows).split('\n')).toEqual(['N      NUM  S', 'a        1  x', 'long  1234  yy']);
});

it('aligns names of any script by the columns that they take', () => {
  const rows = [
    ['模型-0', '1', 'x'],
    ['agent', '12', 'y'],
    ['🚀e\u0301', '3', 'z'],
  ];
  const lines = table(['AGENT', 'N', 'STATE'], rows).split('\n');
  expect(lines).toEqual(['AGENT    N  STATE', '模型-0   1  x', 'agent   12  y', '🚀e\u0301      3  z']);
  const [, ...begins] = lines.map((line) => widthOf(line.slice(0, line.search(/ \w$/))));
  expect(new Set(begins)).toEqual(new Set([11]));
});

it('accepts more rows than a call can have arguments', () => {
  const rows = Array.from({ length: 300_000 }, () => ['a', '1', 'x']);
  expect(table(['N', 'NUM', 'S'], rows)).toHaveLength('N  NUM  S'.length + rows.length * '\na    1  x'.length);
});

it('fits names of any script, and hostile names, into their columns', () => {
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
