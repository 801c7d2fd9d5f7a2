import { expect, it } from 'vitest';
import { table } from '../../src/cli/figures/table.js';

it('sets the first and the last column left and those between right', () => {
  const rows = [
    ['a', '1', 'x'],
    ['long', '1234', 'yy'],
  ];
  expect(table(['N', 'NUM', 'S'], rows).split('\n')).toEqual(['N      NUM  S', 'a        1  x', 'long  1234  yy']);
});

it('has room for more rows than a call has arguments', () => {
  const rows = Array.from({ length: 300_000 }, () => ['a', '1', 'x']);
  expect(table(['N', 'NUM', 'S'], rows)).toHaveLength('N  NUM  S'.length + rows.length * '\na    1  x'.length);
});
