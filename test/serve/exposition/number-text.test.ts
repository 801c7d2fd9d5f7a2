/** Numbers on a page are spelled as JavaScript spells them, infinities as Prometheus does. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TEXT } from '../../../src/serve/exposition/forms.js';
import { Page } from '../../../src/serve/exposition/page.js';
import { valueText } from '../../../src/serve/exposition/spelling.js';
import { gaugeOf, metricsWith } from '../http/any-metrics.js';

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

describe('numbers', () => {
  it('are those of JavaScript', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyNumber, { minLength: 1 }), async (numbers) => {
        const points = numbers.map((value) => ({ attributes: {}, value }));
        const page = await new Page(TEXT, false).page(metricsWith(gaugeOf('g', points)));
        const lines = Buffer.from(page).toString().split('\n').slice(2, -1);
        expect(lines).toEqual(numbers.map((value) => `g ${valueText(value)}`));
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
});
