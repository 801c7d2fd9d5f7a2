/** The history of agents that flush once in ten seconds or in a minute, in points of one and of five seconds. */
import { describe, expect, it } from 'vitest';
import { agentColumns, fleetAnswer } from '../../../src/serve/api/history.js';
import { pastOf } from '../../../src/top/past.js';
import { added } from '../../../src/page/browser/common/series.js';
import { newest } from '../../../src/page/browser/common/history.js';
import { API } from '../../../src/view/answers/answer.js';
import type { AgentSnapshot } from '../../../src/shm-bridge/types.js';
import { agent, ERR_BACKEND, recording, START_MS, TX_BYTES, TX_REQUESTS, XFER_TIME } from './snapshots.js';

type Column = readonly (number | null)[];
type At = (second: number) => AgentSnapshot[];

const MINUTE = { flushIntervalMs: 60_000 };
const BYTES = 6_000_000;

/** An agent that writes BYTES in each interval, which its ring gets by a flush at its end, until `endS`. */
function flushing(second: number, about: Partial<AgentSnapshot> = MINUTE, endS = Infinity, id = 1): AgentSnapshot {
  const flushes = Math.floor(Math.min(second, endS) / (about.flushIntervalMs! / 1000));
  const values = Array.from({ length: flushes }, () => BYTES);
  return agent(id, { [TX_BYTES]: values, [TX_REQUESTS]: values.map(() => 60), [ERR_BACKEND]: values }, about);
}

/** Takes a sample each `stepS` seconds. Returns the answer about all agents. */
function historyOf(at: At, endS: number, stepS: number) {
  const history = recording();
  for (let second = 0; second <= endS; second += stepS) history.sample(second, at(second));
  const { recorder } = history;
  const fleet = fleetAnswer(recorder, { fromMs: 0, startedMs: 1, takenMs: START_MS + endS * 1000 });
  const { timesMs, rows } = recorder.record.agents.after(0);
  const agents = [...rows].map(([id, row]) => agentColumns(id, row));
  return { ...fleet, api: API, agentTimesMs: timesMs, agents } as const;
}

const after = (second: number, timesMs: readonly number[], column: Column): number[] =>
  column.filter((_, i) => timesMs[i]! > START_MS + second * 1000).map((value) => value ?? NaN);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
/** Sum of rates over their times, from the time of the first point on. */
function sumOf(timesMs: readonly number[], column: Column): number {
  return column.reduce<number>(
    (sum, value, i) => (i === 0 ? sum : sum + ((value ?? 0) * (timesMs[i]! - timesMs[i - 1]!)) / 1000),
    0,
  );
}

describe.each([
  { step: 1, flushIntervalMs: 60_000 },
  { step: 5, flushIntervalMs: 60_000 },
  { step: 1, flushIntervalMs: 10_000 },
  { step: 1.3, flushIntervalMs: 10_300 },
])('an agent that flushes every $flushIntervalMs ms, in points of $step s', ({ step, flushIntervalMs }) => {
  const flushS = flushIntervalMs / 1000;
  const rate = BYTES / flushS;
  const about = { flushIntervalMs };
  const history = historyOf((second) => [flushing(second, about)], 9 * flushS + 0.9 * step, step);
  const [one] = history.agents;

  it.each([
    ['fleet', history.timesMs, history.fleet.tx, rate],
    ['agent', history.agentTimesMs, one!.tx, rate],
    ['requests', history.timesMs, history.fleet.requests, 60 / flushS],
    ['errors', history.timesMs, history.fleet.errors['backend']!, rate],
  ])('has its rate after two flushes, and no spike: %s', (_, timesMs, column, expected) => {
    const known = after(2 * flushS + step, timesMs, column);
    expect(Math.max(...known) / mean(known)).toBeLessThan(1.3);
    expect(Math.min(...known)).toBeGreaterThan(0);
    expect(Math.abs(mean(known) - expected)).toBeLessThan(0.1 * expected);
  });

  it('has the same in the large number of the page, its chart and the graph of top', () => {
    const { timesMs, fleet } = history;
    const moved = added(fleet.tx, fleet.rx);
    const large = timesMs.flatMap((_, i) => newest(moved.slice(0, i + 1)) ?? []).slice(-timesMs.length / 2);
    expect(Math.max(...large) / mean(large)).toBeLessThan(1.3);
    const graph = pastOf(history)
      .fleet.slice(-timesMs.length / 2)
      .map(({ values }) => values.tx!);
    expect(Math.max(...graph) / mean(graph)).toBeLessThan(1.3);
  });
});

describe('no count is lost or comes twice', () => {
  const end = 180;
  const over = end + 1.5 * 60;

  it.each([1, 5])('when the agent stops, whose rate is 0 after its last flush is over, in points of %d s', (step) => {
    const history = historyOf((second) => [flushing(second, MINUTE, end)], over + 30, step);
    const sums = [sumOf(history.timesMs, history.fleet.tx), sumOf(history.agentTimesMs, history.agents[0]!.tx)];
    // Values have four digits.
    for (const sum of sums) expect(Math.abs(sum - 3 * BYTES) / BYTES).toBeLessThan(0.001);
    for (const [times, column] of [
      [history.timesMs, history.fleet.tx],
      [history.agentTimesMs, history.agents[0]!.tx],
    ] as const) {
      const ended = after(over, times, column);
      const busy = after(60, times, column).slice(0, -after(end, times, column).length);
      expect(busy.length > 0 && busy.every((value) => value > 0)).toBe(true);
      expect(ended.length > 0 && ended.every((value) => value === 0)).toBe(true);
    }
  });

  it('when the agent is gone soon after a flush', () => {
    const { timesMs, fleet } = historyOf((second) => (second < end + 3 ? [flushing(second)] : []), over, 1);
    expect(Math.abs(sumOf(timesMs, fleet.tx) - 3 * BYTES) / BYTES).toBeLessThan(0.001);
    expect(Math.max(...after(end, timesMs, fleet.tx))).toBeLessThan(1.3 * (BYTES / 60));
  });

  it('when the agent then flushes every 100 ms', () => {
    const at: At = (second) => {
      const flushes = Math.min(3, Math.floor(second / 60));
      const steady = Math.max(0, second - end) * (BYTES / 60);
      const about = second <= end ? MINUTE : { flushIntervalMs: 100 };
      return [agent(1, { [TX_BYTES]: [flushes * BYTES, Math.round(steady)] }, about)];
    };
    const { timesMs, fleet } = historyOf(at, over, 1);
    expect(Math.abs(sumOf(timesMs, fleet.tx) - 4.5 * BYTES) / BYTES).toBeLessThan(0.001);
    // The rest of the last flush is added, at its rate.
    expect(Math.max(...after(end, timesMs, fleet.tx))).toBeLessThan((2.3 * BYTES) / 60);
  });

  it('when serve begins later than the agent, which leaves out what it counted before', () => {
    const at: At = (second) => [flushing(second + 600, { ...MINUTE, startTimeMs: START_MS - 600_000 })];
    const { timesMs, fleet } = historyOf(at, 210, 1);
    expect(sumOf(timesMs, fleet.tx)).toBeLessThanOrEqual(3 * BYTES);
    expect(Math.max(...after(0, timesMs, fleet.tx))).toBeLessThan(1.3 * (BYTES / 60));
  });
});

it('agents that flush every 100 ms keep their values beside one that flushes once a minute', () => {
  const busy = (second: number): AgentSnapshot =>
    agent(2, { [TX_BYTES]: [1000 * second * second] }, { flushIntervalMs: 100 });
  const [alone, mixed] = [(s: number) => [busy(s)], (s: number) => [flushing(s), busy(s)]].map((at) =>
    historyOf(at, 300, 1),
  );
  expect(mixed!.agents.find(({ id }) => id === 2)).toEqual(alone!.agents[0]);
  const slow = after(130, mixed!.timesMs, mixed!.fleet.tx).map(
    (value, i) => value - after(130, alone!.timesMs, alone!.fleet.tx)[i]!,
  );
  expect(Math.max(...slow) / mean(slow)).toBeLessThan(1.3);
});

it('what was lost has the time at which serve read of it', () => {
  const at: At = (second) => [flushing(second, { ...MINUTE, foundFull: second < 60 ? 0 : 3 })];
  const { fleet } = historyOf(at, 90, 1);
  expect(fleet.full.filter((value) => value! > 0)).toEqual([3]);
});

describe('transfer times of an agent that flushes once a minute', () => {
  /** Ten transfers a flush: nine of 8 us and one of 1024 us; in the third minute all of 64 us. */
  const timed = (second: number, endS = Infinity): AgentSnapshot => {
    const flushes = Math.floor(Math.min(second, endS) / 60);
    const times = Array.from({ length: 10 * flushes }, (_, i) =>
      Math.floor(i / 10) === 2 ? 64 : i % 10 === 9 ? 1024 : 8,
    );
    return agent(1, { [XFER_TIME]: times }, MINUTE);
  };

  it('are those of its last flush, until the next one is late', () => {
    const history = recording();
    const seen = Array.from({ length: 320 }, (_, second) => {
      const { agents } = history.sample(second, [timed(second, 180)]);
      return history.recorder.record.recent.of(agents[0]!, 'transferTimesUs')?.p50;
    });
    const of = (from: number, to: number) => [...new Set(seen.slice(from, to))];
    expect([of(120, 180), of(180, 256), of(256, 320)]).toEqual([[8], [expect.closeTo(64, -1)], [undefined]]);
  });

  it('have no gaps in the history of all agents, and keep their counts', () => {
    const { timesMs, fleet, transferTimesUs } = historyOf((second) => [timed(second, 180)], 300, 1);
    const known = fleet.p50.filter((_, i) => timesMs[i]! > START_MS + 61_000 && timesMs[i]! < START_MS + 250_000);
    expect(known).not.toContain(null);
    expect(fleet.p99.at(-1)).toBeNull();
    const counts = transferTimesUs.counts.flatMap((column) => column ?? []);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeCloseTo(30, 1);
  });

  it('are whole counts of agents that flush every 100 ms', () => {
    const busy = (second: number) =>
      agent(1, { [XFER_TIME]: Array.from({ length: second }, () => 8) }, { flushIntervalMs: 100 });
    const { transferTimesUs } = historyOf((second) => [busy(second)], 60, 1);
    expect(transferTimesUs.counts.flat().every((count) => Number.isInteger(count))).toBe(true);
  });
});
