import { describe, expect, it } from 'vitest';
import type { HistoryAnswer } from '../../src/view/answers/history-answer.js';
import { isHistoryAnswer, pastOf } from '../../src/top/past.js';

const NO_COUNTS = { scale: 2, lowest: 0, timesMs: [], offsets: [], counts: [] };
const MS = 1_000;
/** A gap ends at 15 s; a ring is found full up to 20 s; then a minute passes. */
const TIMES = [5, 10, 15, 20, 79, 80].map((second) => second * MS);

const answer: HistoryAnswer = {
  api: 'nixl-otel/v1',
  startedMs: 3,
  takenMs: 80 * MS,
  timesMs: TIMES,
  fleet: {
    tx: [1, 2, null, 4, 5, 6],
    rx: [0, 0, null, 1, 0, 0],
    requests: [9, 9, null, 9, 9, 9],
    errors: { canceled: [0, 1, null, 2, 0, 0], backend: [0, 5, null, 0, 0, 0] },
    full: [0, 0, null, 0.2, 0, 0],
    dropped: [0, 0, null, 0, 0, 0],
    fill: [0, 0, null, 1, 0, 0],
    memory: [0, 0, null, 0, 0, 0],
    p50: [1, 1, null, 1, null, 1],
    p90: [2, 2, null, 2, null, 2],
    p99: [3, 3, null, 3, null, 3],
  },
  transferTimesUs: NO_COUNTS,
  txSizes: NO_COUNTS,
  rxSizes: NO_COUNTS,
  events: [],
  agentTimesMs: [10 * MS, 20 * MS],
  agents: [
    {
      id: 7,
      tx: [1, 8],
      rx: [0, 0],
      requests: [1, 1],
      errors: [0, 4],
      p50: [1, 5],
      p90: [1, 9],
      p99: [1, 11],
      full: [0, 0],
      fill: [0, 0],
    },
  ],
};

describe('the past of a host', () => {
  it('has a point for each time between two that is no gap', () => {
    const { fleet, takenMs } = pastOf(answer);
    expect(takenMs).toBe(80 * MS);
    expect(fleet.map(({ fromMs, toMs }) => [fromMs / MS, toMs / MS])).toEqual([
      [5, 10],
      [15, 20],
      [20, 79],
      [79, 80],
    ]);
    expect(fleet[0]!.values).toEqual({ tx: 2, rx: 0, requests: 9, errors: 6, p50: 1, p90: 2, p99: 3, tooLow: 0 });
    expect(fleet[2]!.values).toMatchObject({ tx: 5, p99: undefined });
  });

  it('has the counts of transfer times between two times', () => {
    const transferTimesUs = {
      scale: 2,
      lowest: -1,
      timesMs: [5, 10, 15].map((second) => second * MS),
      offsets: [1, 0, 4],
      counts: [[1], null, [2, 3]],
    };
    expect(pastOf({ ...answer, transferTimesUs }).transferTimes).toEqual([
      { fromMs: 10 * MS, toMs: 15 * MS, counts: { scale: 2, zeroCount: 0, offset: 4, counts: [2, 3] } },
    ]);
  });

  it('marks rates as too low for a minute after a ring was found full', () => {
    expect(pastOf(answer).fleet.map(({ values }) => values.tooLow)).toEqual([0, 1, 1, 0]);
  });

  it('has agents with the ids of the other answers', () => {
    const [[id, points]] = [...pastOf(answer).agents] as [[string, unknown]];
    expect(id).toBe('3 7');
    expect(points).toMatchObject([{ fromMs: 10 * MS, toMs: 20 * MS, values: { tx: 8, errors: 4, p99: 11, p50: 5 } }]);
  });

  it('is not made of answers of other servers', () => {
    expect([answer, { ...answer, api: 'other' }, [], null, 'no'].map(isHistoryAnswer)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
