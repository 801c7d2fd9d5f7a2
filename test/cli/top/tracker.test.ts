import { describe, expect, it } from 'vitest';
import { quantile } from '../../../src/cli/figures/rates.js';
import { overall } from '../../../src/cli/top/tracker.js';
import { sample, times, totals, viewOf } from './samples.js';

describe('rates', () => {
  it('are the difference of two samples over the time between them', () => {
    const before = sample(1_000, [totals('a', { txBytes: 500, requests: 10, transferTimes: times(10) })]);
    const after = sample(3_000, [
      totals('a', { txBytes: 2_500, rxBytes: 90, requests: 16, errors: 1, transferTimes: times(10, 6) }),
    ]);
    const { seconds, rows } = viewOf(before, after);
    expect(seconds).toBe(2);
    expect(rows[0]).toMatchObject({ tx: 1_000, rx: 45, requests: 3, errors: 0.5, history: [1_045] });
    // Only the six new transfers count, all of them from 10 to 100 us.
    expect(rows[0]!.p50!.value).toBeCloseTo(55);
    expect(rows[0]!.p99!.value).toBeCloseTo(99.1);
  });

  it('are unknown after one sample, after a repeated sample, and when the clock went back', () => {
    const agents = [totals('a', { txBytes: 5 })];
    for (const later of [[], [sample(1_000, agents)], [sample(500, agents)]]) {
      const { seconds, rows } = viewOf(sample(1_000, agents), ...later);
      expect([seconds, rows[0]!.tx, rows[0]!.history]).toEqual([undefined, undefined, []]);
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

describe('quantile', () => {
  it('lies within the bucket in which the share is reached', () => {
    const buckets = times(50, 0, 49, 0, 1);
    expect(quantile(buckets, 0.5)).toEqual({ value: 10, above: false });
    expect(quantile(buckets, 0.75)!.value).toBeCloseTo(100 + 900 * (25 / 49));
    expect(quantile(buckets, 1)).toEqual({ value: 10_000_000, above: false });
  });

  it('is the last bound for values above it, and undefined without values', () => {
    expect(quantile(times(0, 0, 0, 0, 0, 1), 0.5)).toEqual({ value: 10_000_000, above: true });
    expect(quantile(times(), 0.5)).toBeUndefined();
  });
});
