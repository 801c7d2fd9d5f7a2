import { describe, expect, it } from 'vitest';
import { overall } from '../../../src/cli/top/tracker.js';
import { exponentialTally } from '../../support/exponential.js';
import { buckets, sample, totals, viewOf } from './samples.js';

describe('rates', () => {
  it('are the difference of two samples over the time between them', () => {
    const before = sample(1_000, [totals('a', { txBytes: 500, requests: 10, transferTimes: exponentialTally([900]) })]);
    const after = sample(3_000, [
      totals('a', {
        txBytes: 2_500,
        rxBytes: 90,
        requests: 16,
        errors: 1,
        transferTimes: exponentialTally([900, 1, 2, 3, 12]),
      }),
    ]);
    const { seconds, rows } = viewOf(before, after);
    expect(seconds).toBe(2);
    expect(rows[0]).toMatchObject({ tx: 1_000, rx: 45, requests: 3, errors: 0.5 });
    // Only the four new transfers count.
    const [p50, p90, p99, max] = [{ value: 2 }, { value: 12 }, { value: 12 }, { value: 12 }];
    expect(rows[0]!.transferTime).toEqual({ p50, p90, p99, max });
    expect(rows[0]!.postTime).toBeUndefined();
  });

  it('are unknown after one sample, after a repeated sample, and when the clock went back', () => {
    const agents = [totals('a', { txBytes: 5 })];
    for (const later of [[], [sample(1_000, agents)], [sample(500, agents)]]) {
      const { seconds, rows } = viewOf(sample(1_000, agents), ...later);
      expect([seconds, rows[0]!.tx, rows[0]!.transferTimes]).toEqual([undefined, undefined, undefined]);
    }
  });

  it('are unknown for a new agent, and count from 0 for counters that restarted', () => {
    const before = sample(0, [totals('a', { rxBytes: 1_000_000, requests: 50 })]);
    const { rows } = viewOf(
      before,
      sample(1_000, [totals('a', { rxBytes: 70, requests: 2 }), totals('b', { txBytes: 9 })]),
    );
    expect(rows.map(({ tx, rx }) => [tx, rx])).toEqual([
      [0, 70],
      [undefined, undefined],
    ]);
  });

  it('count an agent from 0 if it is known to have started in between', () => {
    const started = (startTimeMs: number) =>
      totals('new', { startTimeMs, txBytes: 9, transferTimes: exponentialTally([4]) });
    const [row] = viewOf(sample(5_000, []), sample(6_000, [started(5_000)])).rows;
    expect(row).toMatchObject({ tx: 9, transferTime: { p50: { value: 4 } } });
    const [older] = viewOf(sample(5_000, []), sample(6_000, [started(4_999)])).rows;
    expect(older).toMatchObject({ tx: undefined, transferTime: undefined });
  });

  it('have percentiles from the buckets of an exposition, without a largest value, and bounds at both ends', () => {
    const at = (second: number) =>
      sample(second * 1000, [totals('a', { transferTimes: buckets(50 * second, 0, 49 * second, 0, 0, second) })]);
    const { transferTime } = viewOf(at(1), at(2)).rows[0]!;
    expect(transferTime).toEqual({
      p50: { value: 10, limit: 'below' },
      p90: { value: 100 + (900 * 40) / 49 },
      p99: { value: 1_000 },
    });
    const slow = viewOf(
      sample(0, [totals('a', { transferTimes: buckets() })]),
      sample(1, [totals('a', { transferTimes: buckets(0, 0, 0, 0, 0, 1) })]),
    );
    expect(slow.rows[0]!.transferTime!.p50).toEqual({ value: 10_000_000, limit: 'above' });
  });

  it('of all agents are summed; losses are totals', () => {
    const before = sample(0, [totals('a'), totals('b', { lost: 3 })]);
    const agents = [totals('a', { txBytes: 10, lostMore: true }), totals('b', { txBytes: 5, errors: 2, lost: 4 })];
    expect(overall(viewOf(before, sample(1_000, agents)).rows)).toEqual({
      tx: 15,
      rx: 0,
      requests: 0,
      errors: 2,
      lost: 4,
      lostMore: true,
    });
    expect(overall([])).toMatchObject({ tx: 0, lost: 0 });
  });
});

it.each([
  [{ life: 'alive', idleMs: 9_999 }, 'live'],
  [{ life: 'alive', idleMs: 10_000 }, 'idle'],
  [{ life: 'unknown', idleMs: 20_000 }, 'idle'],
  [{ life: 'dead', idleMs: 5 }, 'dead'],
] as const)('%o is %s', (about, state) => {
  expect(viewOf(sample(0, [totals('a', about)])).rows[0]!.state).toBe(state);
});
