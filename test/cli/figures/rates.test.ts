import { describe, expect, it } from 'vitest';
import { countsSince, Interval, quantile } from '../../../src/cli/figures/rates.js';

describe('quantile', () => {
  const bounds = [10, 20, 40];

  it.each([
    // Results of Prometheus's histogram_quantile() for the same buckets.
    [[0, 4, 0, 0], 0.5, 15],
    [[0, 4, 0, 0], 1, 20],
    [[2, 2, 4, 0], 0.5, 20],
    [[2, 2, 4, 0], 0.75, 30],
    [[4, 0, 0, 0], 0.25, 2.5],
  ])('of %j at %d is %d', (counts, share, expected) => {
    const { value, above } = quantile({ bounds, counts }, share)!;
    expect(value).toBeCloseTo(expected, 12);
    expect(above).toBe(false);
  });

  it.each([
    [[0, 0, 0, 3], 0.5],
    [[1, 0, 0, 99], 0.99],
  ])('of %j at %d is above the last bound', (counts, share) => {
    expect(quantile({ bounds, counts }, share)).toEqual({ value: 40, above: true });
  });

  it('is absent without values', () => {
    expect(quantile({ bounds, counts: [0, 0, 0, 0] }, 0.5)).toBeUndefined();
    expect(quantile({ bounds, counts: [] }, 0.5)).toBeUndefined();
  });
});

it('subtracts the previous counts by bucket; a histogram with a fallen count has restarted', () => {
  expect(countsSince([2, 7, 1], [5, 7, 4])).toEqual([3, 0, 3]);
  expect(countsSince([2, 7, 4], [5, 7, 1])).toEqual([5, 7, 1]);
  expect(countsSince(undefined, [5, 7])).toEqual([5, 7]);
  expect(countsSince([1], [5, 7])).toEqual([5, 7]);
});

interface Agent {
  readonly id: string;
  readonly startTimeMs?: number;
  readonly bytes: bigint | number;
  readonly counts?: readonly number[];
}

const sampleOf = (takenMs: number, ...agents: Agent[]) => ({ takenMs, agents });
const bytes = (agent: Agent) => agent.bytes;
const counts = (agent: Agent) => agent.counts;

describe('an interval', () => {
  const before = sampleOf(1_000, { id: 'a', bytes: 2n ** 60n, counts: [1, 2] }, { id: 'b', bytes: 50, counts: [9, 9] });

  it('divides exact increases, summed over agents, by its time', () => {
    const now = sampleOf(3_000, { id: 'a', bytes: 2n ** 60n + 3n }, { id: 'b', bytes: 55 });
    const interval = new Interval(before, now);
    expect(interval.seconds).toBe(2);
    expect(interval.rate(now.agents, bytes)).toBe(4);
    expect(interval.rate([now.agents[0]!], bytes)).toBe(1.5);
    expect(interval.rate([], bytes)).toBe(0);
  });

  it('counts the whole value after a restart, also of histograms', () => {
    const now = sampleOf(2_000, { id: 'a', bytes: 7n, counts: [2, 1] }, { id: 'b', bytes: 52, counts: [9, 10] });
    const interval = new Interval(before, now);
    expect(interval.rate(now.agents, bytes)).toBe(9);
    expect(interval.counts(now.agents, counts)).toEqual([2, 2]);
  });

  it.each([
    [1_000, 8, [4]],
    [999, undefined, []],
    [undefined, undefined, []],
  ])('with an agent that started at %s has %s and %j of it', (startTimeMs, rate, expected) => {
    const started = startTimeMs === undefined ? {} : { startTimeMs };
    const now = sampleOf(2_000, { id: 'new', bytes: 8, counts: [4], ...started });
    const interval = new Interval(before, now);
    expect(interval.rate(now.agents, bytes)).toBe(rate);
    expect(interval.counts(now.agents, counts)).toEqual(expected);
  });

  it('leaves out agents that cannot be compared', () => {
    const now = sampleOf(2_000, { id: 'a', bytes: 2n ** 61n, counts: [5, 5] }, { id: 'b', bytes: 51, counts: [9, 9] });
    const interval = new Interval<Agent>(before, now, ({ id }) => id !== 'a');
    expect(interval.rate(now.agents, bytes)).toBe(1);
    expect(interval.counts(now.agents, counts)).toEqual([0, 0]);
  });

  it('has no rates without time, and all counts without an earlier sample', () => {
    for (const earlier of [undefined, sampleOf(1_000), sampleOf(5_000)]) {
      const interval = new Interval<Agent>(earlier, before);
      expect([interval.seconds, interval.rate(before.agents, bytes)]).toEqual([undefined, undefined]);
    }
    expect(new Interval<Agent>(undefined, before).counts(before.agents, counts)).toEqual([10, 11]);
  });
});
