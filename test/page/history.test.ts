/** Joining answers of the history, as the page does each second. */
import { describe, expect, it } from 'vitest';
import { API } from '../../src/view/answers/answer.js';
import type { AgentColumns, CountColumns, HistoryAnswer } from '../../src/view/answers/history-answer.js';
import { extended, newest } from '../../src/page/browser/common/history.js';

const MINUTES_10 = 600_000;

function counts(timesMs: readonly number[]): CountColumns {
  return { scale: 0, lowest: 0, timesMs, offsets: timesMs.map(() => 3), counts: timesMs.map((time) => [time]) };
}

function agent(id: number, timesMs: readonly number[]): AgentColumns {
  const column = timesMs.map((time) => time + id);
  const rates = { tx: column, rx: column, requests: column, errors: column, full: column };
  return { id, ...rates, fill: column, p50: column, p90: column, p99: column };
}

/** A history whose values are their own times. */
function at(timesMs: readonly number[], about: Partial<HistoryAnswer> = {}, statuses = ['x']): HistoryAnswer {
  const fleet = { tx: timesMs, rx: timesMs, requests: timesMs, full: timesMs, dropped: timesMs, fill: timesMs };
  const times = { memory: timesMs, p50: timesMs, p90: timesMs, p99: timesMs };
  return {
    api: API,
    startedMs: 1,
    takenMs: timesMs.at(-1) ?? 0,
    timesMs,
    fleet: { ...fleet, ...times, errors: Object.fromEntries(statuses.map((status) => [status, timesMs])) },
    transferTimesUs: counts(timesMs),
    txSizes: counts(timesMs),
    rxSizes: counts(timesMs),
    events: [],
    agentTimesMs: timesMs,
    agents: [agent(1, timesMs)],
    ...about,
  };
}

describe('the history of the page', () => {
  it('appends later points to every column', () => {
    const joined = extended(at([1000, 2000]), at([3000]));
    const all = [1000, 2000, 3000];
    expect(joined).toMatchObject({ timesMs: all, fleet: { tx: all, p99: all, errors: { x: all } }, agentTimesMs: all });
    expect(joined.transferTimesUs).toEqual(counts(all));
    expect(joined.agents).toEqual([agent(1, all)]);
  });

  it('is the same after an answer without points', () => {
    const before = at([1000, 2000]);
    expect(extended(before, at([], { takenMs: 2000 }))).toMatchObject({ timesMs: [1000, 2000], fleet: before.fleet });
  });

  it('replaces a point that comes again', () => {
    expect(extended(at([1000, 2000]), at([2000, 3000])).timesMs).toEqual([1000, 2000, 3000]);
  });

  it('keeps ten minutes', () => {
    const seconds = Array.from({ length: 900 }, (_, i) => i * 1000);
    const joined = seconds.reduce<HistoryAnswer | undefined>(
      (before, time) => extended(before, at([time])),
      undefined,
    )!;
    expect(joined.timesMs[0]).toBe(899_000 - MINUTES_10);
    expect(joined.fleet.tx).toHaveLength(joined.timesMs.length);
    expect(joined.txSizes.counts).toHaveLength(joined.timesMs.length);
  });

  it('has gaps where an agent or a status was not known', () => {
    const joined = extended(at([1000]), at([2000], { agents: [agent(2, [2000])] }, ['y']));
    expect(joined.agents).toMatchObject([{ id: 2, tx: [null, 2002] }]);
    expect(joined.fleet.errors).toEqual({ x: [1000, null], y: [null, 2000] });
  });

  it('keeps events once', () => {
    const event = (timeMs: number) => ({ kind: 'ended' as const, timeMs, id: 1, name: 'a' });
    const joined = extended(at([1000], { events: [event(500)] }), at([2000], { events: [event(500), event(1500)] }));
    expect(joined.events.map(({ timeMs }) => timeMs)).toEqual([500, 1500]);
  });

  it('begins anew with another process at the same address', () => {
    expect(extended(at([1000]), at([2000], { startedMs: 2 })).timesMs).toEqual([2000]);
  });

  it('takes the mean of the newest points as the value of now', () => {
    expect(newest([900, 1, null, 3])).toBe(2);
    expect(newest([5, null, null, null])).toBeUndefined();
  });
});
