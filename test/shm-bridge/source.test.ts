/** Sources: complete taps, readers that delay the end of dead agents, many rings at once. */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { exponentialCount } from '../../src/ground/exponential.js';
import { tallyOptions } from '../../src/mapping/index.js';
import { openSource, RingWriter } from '../../src/shm-bridge/index.js';
import type { AgentSnapshot, HistogramTally } from '../../src/ground/tally.js';
import { startTransferSource } from '../cli/command.js';
import { drainAll, drained, openTestSource, temporaryDirectory, type Totals } from '../support/live.js';
import { pushAll } from '../support/rings.js';
import { until } from '../support/until.js';

const TX_BYTES = 0;
const XFER_TIME = 6;

/** Writes a ring with these unread durations. */
function backlog(directory: string, durationsUs: readonly bigint[]): void {
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  for (const value of durationsUs) expect(writer.push({ type: XFER_TIME, value })).toBe(true);
  writer.close();
}

test('a tap in the options sees the events that were in the rings before', () => {
  const directory = temporaryDirectory();
  backlog(directory, [1n, 2n, 3n]);
  const source = openSource({ directories: [directory], tally: tallyOptions(), typeTap: { types: [XFER_TIME] } });
  try {
    drainAll(source, directory);
    expect([...source.typeTap!.take(10).values]).toEqual([1, 2, 3]);
    expect(source.typeTap!.stats()).toMatchObject({ seen: 3, kept: 3, overflowed: 0 });
    source.typeTap!.close();
    expect(source.typeTap).toBeUndefined();
  } finally {
    source.close();
  }
});

test('a tap of first events has so many of each agent and type, over batches', async () => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  const typeTap = { types: [TX_BYTES, XFER_TIME], first: 2 };
  const source = openSource({ directories: [directory], tally: tallyOptions(), typeTap });
  try {
    writer.push({ type: XFER_TIME, value: 1n });
    drainAll(source, directory);
    for (const value of [2n, 3n, 4n]) writer.push({ type: XFER_TIME, value });
    for (const value of [5n, 6n, 7n]) writer.push({ type: TX_BYTES, value });
    await source.drain();
    expect([...source.typeTap!.take(10).values]).toEqual([1, 2, 5, 6]);
    expect(source.typeTap!.stats()).toMatchObject({ seen: 7, kept: 4, sampledOut: 3, overflowed: 0 });
  } finally {
    source.close();
    writer.close();
  }
});

test('a held source keeps its totals and taps until its end', async () => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  const source = openSource({ directories: [directory], tally: tallyOptions(), typeTap: { types: [XFER_TIME] } });
  try {
    writer.push({ type: XFER_TIME, value: 1n });
    drainAll(source, directory);
    await source.hold();
    writer.push({ type: XFER_TIME, value: 2n });
    await source.drain();
    expect([...source.typeTap!.take(10).values]).toEqual([1]);
    expect(writer.pending).toBe(1);
  } finally {
    source.close();
    writer.close();
  }
  await expect(source.hold()).rejects.toMatchObject({ code: 'SOURCE_CLOSED' });
});

test('a snapshot without exponential histograms has all other numbers, also of an event that counts into several', () => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 512 });
  const source = openTestSource([directory]);
  const reader = source.openReader();
  const values = [0n, 1n, 10n, 11n, 100n, 5000n, 2n ** 40n, 2n ** 63n];
  for (const [i, value] of [...values, ...values].entries()) {
    writer.push({ type: XFER_TIME + 1, value });
    writer.push({ type: XFER_TIME, value });
    if (i % 3 > 0) writer.push({ type: (i % 3) - 1, value: values[(3 * i) % values.length]! }); // else without direction
  }
  drainAll(source, directory);
  const [whole, without] = [reader.snapshot().agents[0]!, reader.snapshot({ exponential: false }).agents[0]!];
  const histograms = ({ events, transfers }: AgentSnapshot): HistogramTally[] => [
    ...events.flatMap(({ histogram = [] }) => histogram),
    ...Object.values(transfers).flatMap(({ size, duration, throughput }) => [size, duration, throughput]),
  ];
  expect(histograms(whole)).toHaveLength(8);
  for (const { counts, exponential } of histograms(whole)) {
    expect(exponentialCount(exponential)).toBe(counts.reduce((sum, count) => sum + count, 0));
  }
  const none = { scale: 4, zeroCount: 0, offset: 0, counts: new Float64Array(0) };
  expect(histograms(whole).map((one) => ({ ...one, exponential: none }))).toEqual(histograms(without));
  const strip = (agent: AgentSnapshot) => ({
    ...agent,
    events: agent.events.map(({ histogram: _, ...event }) => event),
    transfers: 0,
  });
  expect(strip(without)).toEqual(strip(whole));
  writer.close();
});

test('taps of all events and of some types are independent of each other', () => {
  const directory = temporaryDirectory();
  backlog(directory, [1n, 2n, 3n, 4n]);
  const taps = { eventTap: {}, typeTap: { types: [0] } };
  const source = openSource({ directories: [directory], tally: tallyOptions(), ...taps });
  try {
    source.eventTap!.setSampling(2);
    drainAll(source, directory);
    expect(source.eventTap!.take(10)).toMatchObject({ length: 2 });
    expect(source.eventTap!.stats()).toMatchObject({ seen: 4, kept: 2, sampledOut: 2, types: [] });
    expect(source.typeTap!.stats()).toMatchObject({ seen: 0, types: [{ type: 0 }] });
    source.eventTap!.close();
    expect([source.eventTap, source.typeTap !== undefined]).toEqual([undefined, true]);
  } finally {
    source.close();
  }
});

test.each([
  [{ types: [99] }, /typeTap\.types\[0\] is 99/],
  [{ types: [0], capacity: 0 }, /typeTap\.capacity is 0/],
])('refuses the tap %o before it reads a ring', (tap, message) => {
  expect(() => openSource({ directories: ['/tmp'], tally: tallyOptions(), typeTap: tap })).toThrow(message);
});

test('a dead agent stays until every reader has its last values', async () => {
  const directory = temporaryDirectory();
  const source = openTestSource([directory], { deadTtlMs: 0 });
  const [fast, slow] = [source.openReader(), source.openReader()];
  const agent = startTransferSource(['--dir', directory, '--agents', '1', '--seconds', '0']);
  // The life of an agent stays unknown if its process ends before the collector sees it.
  await until(() => fast.snapshot().agents[0]?.life === 'alive');
  const { totals } = JSON.parse((await agent.stop()).stdout.trim().split('\n').at(-1)!) as Totals;
  await until(() => fast.snapshot().agents[0]?.life === 'dead');
  // Long enough for the collector to check all lives twice more.
  const { ticks } = fast.snapshot().collector;
  await until(() => fast.snapshot().collector.ticks > ticks + 60);
  const last = slow.snapshot();
  expect(last.agents).toMatchObject([{ life: 'dead' }]);
  expect(drained(last)).toBe(totals.written);
  await until(() => fast.snapshot().agents.length === 0);
  slow.close();
});

test('the peak of a ring remains after the drain', async () => {
  const directory = temporaryDirectory();
  backlog(directory, new Array<bigint>(40).fill(1n));
  const source = openTestSource([directory]);
  // The first drain finds 40 events, the second one none.
  const emptied = await until(() => {
    const snapshot = source.snapshot();
    return drained(snapshot) === 40 && snapshot.agents[0]!.foundAtDrain === 0 && snapshot;
  });
  expect(emptied.agents).toMatchObject([{ peakFound: 40 }]);
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

test('an agent with an unlinked file and an invisible process is released after the dead TTL', async () => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'agent');
  const source = openTestSource([directory], { deadTtlMs: 100 });
  backlog(directory, [1n, 2n, 3n, 4n, 5n]);
  await until(() => drained(source.snapshot()) === 5);
  expect(source.snapshot().agents[0]?.life).not.toBe('alive');
  rmSync(file);
  await until(() => source.snapshot().agents.length === 0);
});

test('sampling keeps one in n of each agent and type, independent of other events, for every n to 16', async () => {
  const [POST_TIME, AGENTS, TRANSFERS] = [7, 3, 480];
  for (let n = 1; n <= 16; n++) {
    const directory = temporaryDirectory();
    const source = openSource({
      directories: [directory],
      tally: tallyOptions(),
      typeTap: { types: [XFER_TIME, POST_TIME] },
    });
    try {
      source.typeTap!.setSampling(n);
      for (let agent = 0; agent < AGENTS; agent++) {
        const writer = new RingWriter(path.join(directory, `agent-${agent}`), { wireVersion: 4, capacity: 2048 });
        const transfer = [POST_TIME, XFER_TIME, 0, 2].map((type) => ({ type, value: 1n }));
        for (let i = 0; i < TRANSFERS; i++) pushAll(writer, transfer);
        writer.close();
      }
      await vi.waitFor(() => expect(drained(source.snapshot())).toBe(AGENTS * TRANSFERS * 4), { timeout: 120_000 });
      const { agentIds, types } = source.typeTap!.take(10_000);
      const kept = new Map<string, number>();
      types.forEach((type, i) => {
        const key = `${agentIds[i]} ${type}`;
        kept.set(key, (kept.get(key) ?? 0) + 1);
      });
      expect(kept.size).toBe(AGENTS * 2);
      for (const count of kept.values()) expect([Math.floor(TRANSFERS / n), Math.ceil(TRANSFERS / n)]).toContain(count);
      const { types: counts } = source.typeTap!.stats();
      for (const { seen, sampledOut, kept: all } of counts) expect([seen, sampledOut + all]).toEqual([1440, 1440]);
      expect(counts.map(({ type }) => type)).toEqual([XFER_TIME, POST_TIME]);
    } finally {
      source.close();
    }
  }
});
