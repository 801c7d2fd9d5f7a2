import { describe, expect, it } from 'vitest';
import { Interval } from '../../../src/view/figures/rates.js';

interface Agent {
  readonly id: string;
  readonly startTimeMs?: number;
  readonly bytes: bigint | number;
  readonly counts?: readonly number[];
}

const sampleOf = (takenMs: number, ...agents: Agent[]) => ({ takenMs, agents });
const bytes = (agent: Agent) => agent.bytes;
const counts = (agent: Agent) => agent.counts;
const since = (before: readonly number[] | undefined, now: readonly number[]): readonly number[] =>
  now.map((count, i) => count - (before?.[i] ?? 0));
const increasesOf = (interval: Interval<Agent>, agents: readonly Agent[]) => interval.increases(agents, counts, since);

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

  it('counts the whole value after a restart, and the counts of each agent as their kind subtracts them', () => {
    const now = sampleOf(2_000, { id: 'a', bytes: 7n, counts: [2, 5] }, { id: 'b', bytes: 52, counts: [9, 10] });
    const interval = new Interval(before, now);
    expect(interval.rate(now.agents, bytes)).toBe(9);
    expect(increasesOf(interval, now.agents)).toEqual([
      [1, 3],
      [0, 1],
    ]);
    expect(interval.increases(now.agents, () => undefined, since)).toEqual([]);
  });

  it.each([
    [1_000, 8, [[4]]],
    [999, undefined, []],
    [undefined, undefined, []],
  ])('with an agent that started at %s has %s and %j of it', (startTimeMs, rate, expected) => {
    const started = startTimeMs === undefined ? {} : { startTimeMs };
    const now = sampleOf(2_000, { id: 'new', bytes: 8, counts: [4], ...started });
    const interval = new Interval(before, now);
    expect(interval.rate(now.agents, bytes)).toBe(rate);
    expect(increasesOf(interval, now.agents)).toEqual(expected);
  });

  it('leaves out agents that cannot be compared', () => {
    const now = sampleOf(2_000, { id: 'a', bytes: 2n ** 61n, counts: [5, 5] }, { id: 'b', bytes: 51, counts: [9, 9] });
    const interval = new Interval<Agent>(before, now, ({ id }) => id !== 'a');
    expect(interval.rate(now.agents, bytes)).toBe(1);
    expect(increasesOf(interval, now.agents)).toEqual([[0, 0]]);
  });

  it('has no rates without time, and all counts without an earlier sample', () => {
    for (const earlier of [undefined, sampleOf(1_000), sampleOf(5_000)]) {
      const interval = new Interval<Agent>(earlier, before);
      expect([interval.seconds, interval.rate(before.agents, bytes)]).toEqual([undefined, undefined]);
    }
    expect(increasesOf(new Interval<Agent>(undefined, before), before.agents)).toEqual([
      [1, 2],
      [9, 9],
    ]);
  });
});
