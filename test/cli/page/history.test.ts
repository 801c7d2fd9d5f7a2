import { describe, expect, it } from 'vitest';
import { History } from '../../../src/cli/page/browser/history.js';
import { type AgentData, type AgentsAnswer, API, type ExponentialCounts } from '../../../src/cli/api/answer.js';
import { exponentialTally } from '../../support/exponential.js';

function counts(...values: number[]): ExponentialCounts {
  const tally = exponentialTally(values);
  return { ...tally, counts: Array.from(tally.counts) };
}

const AGENT: AgentData = {
  id: 1,
  agent: 'a',
  directory: '/d',
  name: 'a',
  life: 'alive',
  startTimeMs: 0,
  idleMs: 0,
  txBytes: 0,
  rxBytes: 0,
  txRequests: 0,
  rxRequests: 0,
  errors: [0, 0],
  memoryBytes: 0,
  registeredBytes: 0,
  memoryApproximate: false,
  dropped: 0,
  foundFull: 0,
  capacity: 64,
  fill: 0,
  restarts: 0,
  suspect: false,
  transferTimesUs: counts(),
  postTimesUs: counts(),
  txSizes: counts(),
  rxSizes: counts(),
};

function at(takenMs: number, agents: Partial<AgentData>[], about: Partial<AgentsAnswer> = {}): AgentsAnswer {
  return {
    api: API,
    version: '',
    hostname: '',
    directories: [],
    startedMs: 1,
    takenMs,
    errorStatuses: ['x', 'y'],
    agents: agents.map((agent) => ({ ...AGENT, ...agent })),
    folded: 0,
    problems: [],
    problemCount: 0,
    ...about,
  };
}

function after(...answers: AgentsAnswer[]): History {
  const history = new History();
  for (const answer of answers) history.add(answer);
  return history;
}

describe('history', () => {
  it('knows no rates from one answer, and divides by the time between two', () => {
    const first = at(1000, [{ txBytes: 50 }]);
    expect(after(first).now(undefined)).toMatchObject({ tx: null, requests: null, p50: null });
    const second = at(3000, [{ txBytes: 250, rxRequests: 4, errors: [1, 1], transferTimesUs: counts(3, 3, 9) }]);
    const history = after(first, second);
    expect(history.now(undefined)).toMatchObject({ tx: 100, rx: 0, requests: 2, errors: 1, p50: 3, p90: 9, max: 9 });
    expect(history.now(1)).toEqual(history.now(undefined));
    expect(history.now(2)).toBeUndefined();
  });

  it('counts the work of a new agent, but not the work of an agent that was only missing before', () => {
    const first = at(1000, [{ txBytes: 0 }]);
    const isNew = after(first, at(2000, [{}, { id: 2, txBytes: 70, startTimeMs: 1500 }]));
    expect(isNew.now(undefined)!.tx).toBe(70);
    const isOld = after(first, at(2000, [{}, { id: 2, txBytes: 70, startTimeMs: 500 }]));
    expect(isOld.now(undefined)!.tx).toBe(0);
    const regrouped = after(
      at(1000, [{}, { id: -1, txBytes: 10 }], { folded: 5 }),
      at(2000, [{}, { id: -1, txBytes: 99 }], { folded: 6 }),
    );
    expect(regrouped.now(undefined)!.tx).toBe(0);
  });

  it('keeps totals when an agent ends', () => {
    expect(after(at(1000, [{ txBytes: 9 }]), at(2000, [])).now(undefined)).toMatchObject({ tx: 0, memory: null });
  });

  it('restarts with another process at the same address', () => {
    const history = after(at(1000, [{ txBytes: 9 }]), at(2000, [{ txBytes: 4 }], { startedMs: 2 }));
    expect(history.columns(undefined, 60_000, ['tx'])).toEqual([[2], [null]]);
  });

  it('ignores a repeated answer', () => {
    const answer = at(1000, [{}]);
    expect(after(answer, answer).columns(undefined, 60_000, ['tx'])[0]).toHaveLength(1);
  });

  it('spans percentiles over ten seconds and distributions over the last minute', () => {
    const answers = Array.from({ length: 120 }, (_, second) =>
      // From second 100 on, transfers are slow.
      at(second * 1000, [{ transferTimesUs: counts(...Array.from({ length: second }, (_, i) => (i < 100 ? 1 : 2))) }]),
    );
    const history = after(...answers);
    expect(history.now(undefined)!.p50).toBe(2);
    const countsOf = (spanMs?: number) => Array.from(history.counts(undefined, 'transferTimesUs', spanMs)!.counts);
    // 15 empty buckets lie between 1 and 2.
    const between = Array.from({ length: 15 }, () => 0);
    expect(countsOf(10_000)).toEqual([10]);
    expect(countsOf(60_000)).toEqual([41, ...between, 19]);
    expect(countsOf()).toEqual([100, ...between, 19]);
  });

  it('keeps ten minutes', () => {
    const history = after(...Array.from({ length: 2000 }, (_, second) => at(second * 1000, [{}])));
    expect(history.columns(undefined, 1e9, ['tx'])[0]).toHaveLength(601);
  });
});
