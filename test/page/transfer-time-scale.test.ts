/** The axis of transfer times. */
import { describe, expect, it } from 'vitest';
import { API } from '../../src/view/answers/answer.js';
import type { HistoryAnswer } from '../../src/view/answers/history-answer.js';
import { transferTimeScale } from '../../src/page/browser/charts/scales.js';

const NONE = { scale: 0, lowest: 0, timesMs: [], offsets: [], counts: [] };
const ZEROS = [0, 0, 0];

/** A history with these p99s, microseconds, and ten million transfers of about 100 us. */
function historyOf(p99: readonly number[]): HistoryAnswer {
  const timesMs = p99.map((_, second) => second * 1000);
  const rates = { tx: ZEROS, rx: ZEROS, requests: ZEROS, errors: {}, full: ZEROS, dropped: ZEROS };
  return {
    api: API,
    startedMs: 0,
    takenMs: timesMs.at(-1)!,
    timesMs,
    fleet: { ...rates, fill: ZEROS, memory: ZEROS, p50: p99.map(() => 90), p90: p99.map(() => 95), p99 },
    transferTimesUs: { scale: 2, lowest: -1, timesMs: [2000], offsets: [26], counts: [[1e7]] },
    txSizes: NONE,
    rxSizes: NONE,
    events: [],
    agentTimesMs: [],
    agents: [],
  };
}

describe('the axis of transfer times', () => {
  it.each([
    [[100, 100, 100], 1e3],
    [[100, 15_000, 100], 1e5],
  ])('is that of almost all transfers, and holds each p99: %j', (p99, max) => {
    expect(transferTimeScale(historyOf(p99)).max).toBe(max);
  });
});
