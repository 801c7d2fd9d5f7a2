/** Sources: taps that miss nothing, readers that are waited for, many rings at once. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { tallyOptions } from '../../src/mapping/index.js';
import { openSource, RingWriter } from '../../src/shm-bridge/index.js';
import { startTransferSource } from '../cli/command.js';
import { drainAll, drained, openTestSource, temporaryDirectory, type Totals } from '../support/live.js';
import { until } from '../support/until.js';

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
    drainAll(source, directory);
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

test('a dead agent stays until every reader has had its last values', async () => {
  const directory = temporaryDirectory();
  const source = openTestSource([directory], { deadTtlMs: 0 });
  const [fast, slow] = [source.openReader(), source.openReader()];
  const agent = startTransferSource(['--dir', directory, '--agents', '1', '--seconds', '0']);
  // One that is gone before its process was seen has an unknown life for ever.
  await until(() => fast.snapshot().agents[0]?.life === 'alive');
  const { totals } = JSON.parse((await agent.stop()).stdout.trim().split('\n').at(-1)!) as Totals;
  await until(() => fast.snapshot().agents[0]?.life === 'dead');
  // Long enough for the collector to look at all lives again, twice.
  const { ticks } = fast.snapshot().collector;
  await until(() => fast.snapshot().collector.ticks > ticks + 60);
  const last = slow.snapshot();
  expect(last.agents).toMatchObject([{ life: 'dead' }]);
  expect(drained(last)).toBe(totals.written);
  await until(() => fast.snapshot().agents.length === 0);
  slow.close();
});

test('the fullest that a ring was lately outlives the drain', async () => {
  const directory = temporaryDirectory();
  backlog(directory, new Array<bigint>(40).fill(1n));
  const source = openTestSource([directory]);
  // Fill is what a drain found: the second one finds nothing.
  await until(() => source.snapshot().agents[0]?.pending === 0);
  expect(source.snapshot().agents).toMatchObject([{ pending: 0, peakPending: 40 }]);
});

test('a thousand new rings are found and drained together', () => {
  const directory = temporaryDirectory();
  for (let i = 0; i < 1000; i++) {
    const writer = new RingWriter(path.join(directory, `agent-${i}`), { capacity: 4 });
    writer.push({ type: XFER_TIME, value: 1n });
    writer.close();
  }
  const source = openTestSource([directory]);
  drainAll(source, directory);
  expect(drained(source.snapshot())).toBe(1000);
});
