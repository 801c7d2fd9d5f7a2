/** Sources: taps that miss nothing, readers that are waited for, many rings at once. */
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { tallyOptions } from '../../src/mapping/index.js';
import { openSource, RingWriter } from '../../src/shm-bridge/index.js';
import { startTransferSource } from '../cli/command.js';
import { drained, openTestSource, temporaryDirectory, type Totals } from '../support/live.js';

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
  [{ types: [99] }, /tap.types\[0\] is 99/],
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
  await vi.waitUntil(() => fast.snapshot().agents[0]?.life === 'alive', 20_000);
  const { totals } = JSON.parse((await agent.stop()).stdout.trim().split('\n').at(-1)!) as Totals;
  await vi.waitUntil(() => fast.snapshot().agents[0]?.life === 'dead', 20_000);
  // Long enough for the collector to look at all lives again, twice.
  const { ticks } = fast.snapshot().collector;
  await vi.waitUntil(() => fast.snapshot().collector.ticks > ticks + 60, 20_000);
  const last = slow.snapshot();
  expect(last.agents).toMatchObject([{ life: 'dead' }]);
  expect(drained(last)).toBe(totals.written);
  await vi.waitUntil(() => fast.snapshot().agents.length === 0, 20_000);
  slow.close();
});

test('the fullest that a ring was lately outlives the drain', () => {
  const directory = temporaryDirectory();
  backlog(directory, new Array<bigint>(40).fill(1n));
  const source = openTestSource([directory]);
  source.drainNow();
  source.drainNow();
  expect(source.snapshot().agents).toMatchObject([{ pending: 0, peakPending: 40 }]);
});

test('a thousand new rings wait for each other no longer than one', () => {
  const directory = temporaryDirectory();
  for (let i = 0; i < 1000; i++) {
    const writer = new RingWriter(path.join(directory, `agent-${i}`), { capacity: 4 });
    writer.push({ type: XFER_TIME, value: 1n });
    writer.close();
  }
  const source = openTestSource([directory]);
  source.drainNow();
  expect(drained(source.snapshot())).toBe(1000);
});
