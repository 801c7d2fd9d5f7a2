import { describe, expect, it } from 'vitest';
import { History } from '../../../src/cli/page/browser/history.js';
import { type AgentData, type AgentsAnswer, API, type ExponentialCounts } from '../../../src/cli/api/answer.js';
import { comparable, exponentialTally } from '../../support/exponential.js';

function counts(...values: number[]): ExponentialCounts {
  return comparable(exponentialTally(values));
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
  foundFullMs: 0,
  events: 0,
  troubles: {},
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
    ended: [],
    stateProblems: [],
    stateProblemCount: 0,
    failingExporters: [],
    collector: { drainIntervalMs: 20, sinceTickMs: 0 },
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
    // One transfer per second: of 1 us, from second 100 on of 2 us, in the last one of 3 us.
    const timeOf = (second: number) => (second < 100 ? 1 : second < 118 ? 2 : 3);
    const answers = Array.from({ length: 120 }, (_, second) =>
      at(second * 1000, [{ transferTimesUs: counts(...Array.from({ length: second }, (_, i) => timeOf(i))) }]),
    );
    const history = after(...answers);
    expect(history.now(undefined)).toMatchObject({ p50: 2, p90: 2, max: 3 });
    const filled = (spanMs?: number) =>
      Array.from(history.counts(undefined, 'transferTimesUs', spanMs)!.counts).filter((count) => count > 0);
    expect(filled(10_000)).toEqual([9, 1]);
    expect(filled(60_000)).toEqual([41, 18, 1]);
    expect(filled()).toEqual([100, 18, 1]);
  });

  it('keeps ten minutes', () => {
    const history = after(...Array.from({ length: 2000 }, (_, second) => at(second * 1000, [{}])));
    expect(history.columns(undefined, 1e9, ['tx'])[0]).toHaveLength(601);
  });
});
