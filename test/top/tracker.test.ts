import { describe, expect, it } from 'vitest';
import { agentObject } from '../../src/top/agent-object.js';
import { overall } from '../../src/top/tracker.js';
import { exponentialTally } from '../support/exponential.js';
import { buckets, sample, totals, viewOf, viewsOf } from './samples.js';

describe('rates', () => {
  it('are the difference of two samples over the time between them', () => {
    const before = sample(1_000, [
      totals('a', { txBytes: 500, txRequests: 10, transferTimesUs: exponentialTally([900]) }),
    ]);
    const after = sample(3_000, [
      totals('a', {
        txBytes: 2_500,
        rxBytes: 90,
        txRequests: 16,
        errors: [0, 1],
        transferTimesUs: exponentialTally([900, 1, 2, 3, 12]),
      }),
    ]);
    const { seconds, rows } = viewOf(before, after);
    expect(seconds).toBe(2);
    expect(rows[0]).toMatchObject({
      txBytesPerSecond: 1_000,
      rxBytesPerSecond: 45,
      requestsPerSecond: 3,
      errorsPerSecond: 0.5,
    });
    // Only the four new transfers count.
    expect(rows[0]!.transferTimeUs).toEqual({ p50: 2, p90: 12, p99: 12, max: 12, count: 4 });
    expect(rows[0]!.postTimeUs).toBeUndefined();
  });

  it('are unknown after one sample, after a repeated sample, and when the clock went back', () => {
    const agents = [totals('a', { txBytes: 5 })];
    for (const later of [[], [sample(1_000, agents)], [sample(500, agents)]]) {
      const { seconds, rows } = viewOf(sample(1_000, agents), ...later);
      expect([seconds, rows[0]!.txBytesPerSecond, rows[0]!.transferTimes]).toEqual([undefined, undefined, undefined]);
    }
  });

  it('are unknown for a new agent, and count from 0 for counters that restarted', () => {
    const before = sample(0, [totals('a', { rxBytes: 1_000_000, rxRequests: 50 })]);
    const { rows } = viewOf(
      before,
      sample(1_000, [totals('a', { rxBytes: 70, rxRequests: 2 }), totals('b', { txBytes: 9 })]),
    );
    expect(rows.map((row) => [row.txBytesPerSecond, row.rxBytesPerSecond])).toEqual([
      [0, 70],
      [undefined, undefined],
    ]);
  });

  it('count an agent from 0 if it is known to have started in between', () => {
    const started = (startTimeMs: number) =>
      totals('new', { startTimeMs, txBytes: 9, transferTimesUs: exponentialTally([4]) });
    const [row] = viewOf(sample(5_000, []), sample(6_000, [started(5_000)])).rows;
    expect(row).toMatchObject({ txBytesPerSecond: 9, transferTimeUs: { p50: 4 } });
    const [older] = viewOf(sample(5_000, []), sample(6_000, [started(4_999)])).rows;
    expect(older).toMatchObject({ txBytesPerSecond: undefined, transferTimeUs: undefined });
  });

  it('have percentiles from the buckets of an exposition, without a largest value, and bounds at both ends', () => {
    const at = (second: number) =>
      sample(second * 1000, [totals('a', { transferTimesUs: buckets(50 * second, 0, 49 * second, 0, 0, second) })]);
    const { transferTimeUs } = viewOf(at(1), at(2)).rows[0]!;
    expect(transferTimeUs).toEqual({ p50: 10, p90: 100 + (900 * 40) / 49, p99: 1_000, limits: { p50: 'below' } });
    const slow = viewOf(
      sample(0, [totals('a', { transferTimesUs: buckets() })]),
      sample(1, [totals('a', { transferTimesUs: buckets(0, 0, 0, 0, 0, 1) })]),
    );
    expect(slow.rows[0]!.transferTimeUs).toMatchObject({ p50: 10_000_000, limits: { p50: 'above' } });
  });

  it('of all agents are summed; losses are totals', () => {
    const before = sample(0, [totals('a'), totals('b', { lost: 3 })]);
    const agents = [totals('a', { txBytes: 10, foundFull: 1 }), totals('b', { txBytes: 5, errors: [2], lost: 4 })];
    expect(overall(viewOf(before, sample(1_000, agents)).rows)).toEqual({
      txBytesPerSecond: 15,
      rxBytesPerSecond: 0,
      requestsPerSecond: 0,
      errorsPerSecond: 2,
      lost: 4,
      lostMore: true,
    });
    expect(overall([])).toMatchObject({ txBytesPerSecond: 0, lost: 0 });
  });
});

it('rates of an agent that flushes once a minute are those of its last whole flush', () => {
  // 600 bytes in each flush, at 0, 60, 120 and 180 s; a sample each five seconds.
  const at = (second: number) => {
    const flush = Math.min(3, Math.floor(second / 60));
    const idleMs = (second - 60 * flush) * 1000 + 20;
    return sample(second * 1000, [totals('a', { txBytes: 600 * flush, idleMs, flushIntervalMs: 60_000 })]);
  };
  const seconds = Array.from({ length: 70 }, (_, i) => 5 * i);
  const rates = viewsOf(...seconds.map(at)).map(({ rows }) => rows[0]!.txBytesPerSecond);
  const expected = seconds.map((second) => (second < 60 ? undefined : second < 255 ? 10 : 0));
  expect(rates).toEqual(expected);
});

it.each([
  [{ life: 'alive', idleMs: 179_999 }, 'live'],
  [{ life: 'alive', idleMs: 180_000 }, 'idle'],
  [{ life: 'alive', idleMs: 180_000, flushIntervalMs: 61_000 }, 'live'],
  [{ life: 'unknown', idleMs: 5 }, 'unknown'],
  [{ life: 'unknown', idleMs: 180_000 }, 'unknown'],
  [{ life: 'dead', idleMs: 5 }, 'dead'],
] as const)('%o is %s', (about, state) => {
  expect(agentObject(viewOf(sample(0, [totals('a', about)])).rows[0]!)).toMatchObject({ state });
});
