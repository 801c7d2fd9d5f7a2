/** Totals of a real ring, observed at times that the test sets. */
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RingTotals } from '../../src/top/ring-totals.js';
import { Tracker } from '../../src/top/tracker.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { temporaryDirectory } from '../cli/command.js';
import { sample } from './samples.js';

const TX_BYTES = 0;
const OBSERVE_MS = 50;

/** Observes a ring that gets 6,000 bytes at each of these times. Returns its totals each five seconds. */
function observed(flushesMs: readonly number[], endMs: number) {
  const file = path.join(temporaryDirectory(), 'agent');
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 64 });
  const ring = new RingTotals(file, 1, { agent: 'agent' });
  onTestFinished(() => {
    ring.close();
    writer.close();
  });
  const due = [...flushesMs];
  const all = [];
  for (let nowMs = 0; nowMs <= endMs; nowMs += OBSERVE_MS) {
    while (due.length > 0 && due[0]! <= nowMs) {
      due.shift();
      writer.push({ type: TX_BYTES, value: 6000 });
    }
    ring.observe(nowMs);
    if (nowMs % 5000 === 0) all.push({ nowMs, totals: ring.totals(nowMs) });
  }
  return all;
}

it('learns the time between rare flushes, whose rate is that of the last one', () => {
  const flushes = Array.from({ length: 8 }, (_, i) => 60_000 * (i + 1));
  const all = observed(flushes, 600_000);
  const intervals = all.map(({ totals }) => totals.flushIntervalMs);
  expect(intervals).toEqual(all.map(({ nowMs }) => (nowMs < 240_000 ? undefined : 60_000)));
  const tracker = new Tracker();
  const rates = all.map(({ nowMs, totals }) => ({
    nowMs,
    tx: tracker.add(sample(nowMs, [totals])).rows[0]!.txBytesPerSecond,
  }));
  const [busy, over] = [rates.filter(({ nowMs }) => nowMs >= 300_000 && nowMs < 540_000), rates.slice(-4)];
  expect([new Set(busy.map(({ tx }) => tx)), new Set(over.map(({ tx }) => tx))]).toEqual([
    new Set([100]),
    new Set([0]),
  ]);
});

it('takes pauses between flushes of 100 ms for no rare flushes', () => {
  const burst = (beginMs: number) => Array.from({ length: 5 }, (_, i) => beginMs + 100 * i);
  const all = observed([0, 30_000, 60_000, 90_000].flatMap(burst), 120_000);
  expect(all.at(-1)!.totals.flushIntervalMs).toBe(100);
});
