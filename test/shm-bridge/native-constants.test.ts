/** Numbers that native code and TypeScript both need: each is written once on either side, and they are equal. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TALLY_SCALE } from '../../src/ground/exponential.js';
import { MOST_ATTRIBUTE_BYTES } from '../../src/ground/source-limits.js';
import { Category, TransferEvent } from '../../src/ground/tally.js';

/** Returns the number that a header gives a name, as `name = 12`. */
function numberIn(header: string, name: string): number {
  const text = readFileSync(new URL(`../../native/${header}`, import.meta.url), 'utf8');
  const values = [...text.matchAll(new RegExp(`\\b${name} = (\\d+)\\b`, 'g'))].map(([, value]) => Number(value));
  expect(values, `${name} in ${header}`).toHaveLength(1);
  return values[0]!;
}

/** Returns the C++ name of a key, `kTxBytes` of `TX_BYTES`. */
function nativeName(key: string): string {
  const words = key.split('_').map((word) => word[0]! + word.slice(1).toLowerCase());
  return `k${words.join('')}`;
}

it.each([...Object.entries(Category), ...Object.entries(TransferEvent)])('%s is %d in native code', (key, value) => {
  expect(numberIn('ring/ring_event.h', nativeName(key))).toBe(value);
});

it('the scale of exponential histograms and the limit of kept attributes are the same in native code', () => {
  expect(numberIn('tally/histogram.h', 'kScale')).toBe(TALLY_SCALE);
  expect(numberIn('state/agent_record.h', 'kMostAttributeBytes')).toBe(MOST_ATTRIBUTE_BYTES);
});
