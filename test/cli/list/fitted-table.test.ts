/** Tables as wide as a terminal. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cutMiddle } from '../../../src/view/figures/cut-middle.js';
import { widthOf } from '../../../src/view/figures/table.js';
import { fittedTable } from '../../../src/cli/list/fitted-table.js';

const COLUMNS = [
  { key: 'agent', heading: 'AGENT' },
  { key: 'wire', heading: 'WIRE', leaveOut: 1 },
  { key: 'fill', heading: 'FILL' },
  { key: 'since', heading: 'SINCE', leaveOut: 2 },
  { key: 'state', heading: 'STATE' },
];
const NAME = 'prefill-llama70b-tensor-parallel-11'; // 35 columns
const ROW = [NAME, '4', '100%', '2026-11-23 05:42:10', 'ready, held'];
const lines = (width: number, shown?: string, row = ROW): string[] =>
  fittedTable(COLUMNS, [row], width, shown).split('\n');

it('shows everything where there is room', () => {
  expect(lines(200)[1]).toBe(`${NAME}     4  100%  2026-11-23 05:42:10  ready, held`);
});

it('cuts the name in its middle first, then leaves out columns, and keeps the one that rows are sorted by', () => {
  expect(lines(70)).toEqual(
    [
      'AGENT                     WIRE  FILL                SINCE  STATE',
      expect.stringMatching(/^prefill-ll\S*…\S*allel-11 +4 +100% +2026-11-23 05:42:10 +ready, held$/),
    ].map((line) => line as unknown),
  );
  expect(lines(60)[0]).toMatch(/^AGENT +WIRE +FILL +STATE$/);
  expect(lines(44)[0]).toMatch(/^AGENT +FILL +STATE$/);
  expect(lines(60, 'since')[0]).toMatch(/^AGENT +FILL +SINCE +STATE$/);
});

it('is never wider than the terminal, as far as columns that always show have room', () => {
  const text = fc.oneof(fc.string({ maxLength: 60 }), fc.constantFrom('模型-0'.repeat(9), '🚀'.repeat(20), NAME));
  fc.assert(
    fc.property(text, text, fc.integer({ min: 20, max: 200 }), (name, state, width) => {
      const printable = (given: string): string => given.replaceAll(/[^ -~模型🚀]/gu, 'x');
      const row = [printable(name), '4', '100%', '2026-11-23 05:42:10', printable(state)];
      for (const line of lines(width, undefined, row)) expect(widthOf(line)).toBeLessThanOrEqual(width);
    }),
  );
});

it.each([
  ['prefill-llama70b-tp11', 15, 'prefill…0b-tp11'],
  ['agent', 5, 'agent'],
  ['agent-12', 1, '…'],
  ['agent-12', 0, ''],
  ['模型模型模型', 7, '模型…型'],
])('cuts %s to %d columns in the middle', (text, columns, expected) => {
  expect(cutMiddle(text, columns)).toBe(expected);
  expect(widthOf(expected)).toBeLessThanOrEqual(columns);
});
