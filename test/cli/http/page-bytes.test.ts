/** Numbers on a page are spelled as JavaScript spells them, infinities as Prometheus does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NumberedText } from '../../../src/cli/http/numbered-text.js';
import { PageBytes } from '../../../src/cli/http/page-bytes.js';
import { valueText } from '../../../src/cli/http/spelling.js';

const EDGES = [
  0,
  9,
  10,
  99,
  100,
  2 ** 31,
  2 ** 32,
  1e9,
  1e9 - 1,
  1e9 + 1,
  1e15,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 64,
];
const anyNumber = fc.oneof(
  fc.double(),
  fc.maxSafeNat(),
  fc.nat(),
  fc.constantFrom(...EDGES, ...EDGES.map((edge) => -edge), ...EDGES.map((edge) => edge + 0.5), NaN, Infinity, 5e-324),
  // Around the multiples of 10^9, at which the digits are divided.
  fc.tuple(fc.nat(9_007_199), fc.integer({ min: -1, max: 1 })).map(([n, more]) => n * 1e9 + more),
  // Seconds of microseconds and milliseconds, up to the sixteenth digit and beyond.
  fc.oneof(fc.nat(), fc.maxSafeNat(), fc.integer({ min: 1e15 - 99, max: 1e15 + 99 })).map((n) => n / 1e6),
  fc.nat().map((n) => n / 1e3),
);

const textOf = (page: PageBytes): string => Buffer.from(page.finish()).toString();

describe('numbers', () => {
  it('are those of JavaScript', () => {
    fc.assert(
      fc.property(fc.array(anyNumber), (numbers) => {
        const page = new PageBytes(new Uint8Array(1));
        for (const value of numbers) {
          page.number(value);
          page.endLine();
        }
        expect(textOf(page)).toBe(numbers.map((value) => `${valueText(value)}\n`).join(''));
      }),
      { numRuns: 1000 },
    );
    expect([Infinity, -Infinity, NaN, -0, 2 ** 53].map(valueText)).toEqual([
      '+Inf',
      '-Inf',
      'NaN',
      '0',
      '9007199254740992',
    ]);
  });

  it('are replaced in a text, whatever their widths', () => {
    const anyPages = fc
      .integer({ min: 1, max: 8 })
      .chain((lines) => fc.array(fc.array(anyNumber, { minLength: lines, maxLength: lines }), { minLength: 1 }));
    fc.assert(
      fc.property(anyPages, fc.string(), (pages, head) => {
        const heads = pages[0]!.map((_, i) => `${head}${i} é `);
        const text = new NumberedText('# comment\n', heads);
        for (const numbers of pages) {
          const page = new PageBytes(new Uint8Array(16));
          page.text('before\n');
          text.begin(page);
          for (const value of numbers) text.number(value);
          text.end();
          const lines = numbers.map((value, i) => `${heads[i]!}${valueText(value)}\n`);
          expect(textOf(page)).toBe(Buffer.from(`before\n# comment\n${lines.join('')}`).toString());
        }
      }),
      { numRuns: 500 },
    );
  });
});
