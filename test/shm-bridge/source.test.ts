/** Sources: taps that miss nothing. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { tallyOptions } from '../../src/mapping/index.js';
import { openSource, RingWriter } from '../../src/shm-bridge/index.js';
import { temporaryDirectory } from '../support/live.js';

const XFER_TIME = 6;

/** A ring with these durations in it, that nobody has read yet. */
function backlog(directory: string, durationsUs: readonly bigint[]): void {
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  for (const value of durationsUs) expect(writer.push({ type: XFER_TIME, value })).toBe(true);
  writer.close();
}

test('a tap that a source is opened with sees what lay in the rings before', () => {
  const directory = temporaryDirectory();
  backlog(directory, [1n, 2n, 3n]);
  const source = openSource({ directories: [directory], tally: tallyOptions(), tap: { types: [XFER_TIME] } });
  try {
    source.drainNow();
    expect([...source.tap!.take(10).values]).toEqual([1, 2, 3]);
    expect(source.tap!.stats()).toMatchObject({ seen: 3, kept: 3, overflowed: 0 });
    source.tap!.close();
    expect(source.tap).toBeUndefined();
  } finally {
    source.close();
  }
});

test.each([
  [{ types: [99] }, /tap type is 99/],
  [{ types: [0], capacity: 0 }, /tap capacity is 0/],
])('refuses the tap %o before anything is read', (tap, message) => {
  expect(() => openSource({ directories: ['/tmp'], tally: tallyOptions(), tap })).toThrow(message);
});
