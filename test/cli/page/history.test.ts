import { describe, expect, it } from 'vitest';
import { History } from '../../../src/cli/page/browser/history.js';
import type { AgentData, PageData } from '../../../src/cli/page/page-data.js';

const AGENT: AgentData = {
  id: 1,
  name: 'a',
  life: 'alive',
  startTimeMs: 0,
  idleMs: 0,
  txBytes: 0,
  rxBytes: 0,
  txRequests: 0,
  rxRequests: 0,
  errors: [0, 0],
  memory: 0,
  registered: 0,
  memoryApproximate: false,
  dropped: 0,
  foundFull: 0,
  fill: 0,
  restarts: 0,
  suspect: false,
  durations: [0, 0, 0],
  postDurations: [0, 0, 0],
  txSizes: [0, 0],
  rxSizes: [0, 0],
};

function at(takenMs: number, agents: Partial<AgentData>[], about: Partial<PageData> = {}): PageData {
  return {
    version: '',
    hostname: '',
    directories: [],
    startedMs: 1,
    takenMs,
    bounds: { durationUs: [10, 20], sizeBytes: [100] },
    errorStatuses: ['x', 'y'],
    agents: agents.map((agent) => ({ ...AGENT, ...agent })),
    folded: 0,
    problems: [],
    problemCount: 0,
    ...about,
  };
}

function after(...answers: PageData[]): History {
  const history = new History();
  for (const answer of answers) history.add(answer);
  return history;
}

describe('history', () => {
  it('knows no rates from one answer, and divides by the time between two', () => {
    const first = at(1000, [{ txBytes: 50 }]);
    expect(after(first).now(undefined)).toMatchObject({ tx: null, requests: null, p50: null });
    const second = at(3000, [{ txBytes: 250, rxRequests: 4, errors: [1, 1], durations: [0, 8, 0] }]);
    const history = after(first, second);
    expect(history.now(undefined)).toMatchObject({ tx: 100, rx: 0, requests: 2, errors: 1, p50: 15 });
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
      at(second * 1000, [{ durations: [Math.min(second, 100), Math.max(0, second - 100), 0] }]),
    );
    const history = after(...answers);
    expect(history.now(undefined)!.p50).toBe(15);
    expect(history.buckets(undefined, 'durations', true)).toEqual([41, 19, 0]);
    expect(history.buckets(undefined, 'durations', false)).toEqual([100, 19, 0]);
  });

  it('keeps ten minutes', () => {
    const history = after(...Array.from({ length: 2000 }, (_, second) => at(second * 1000, [{}])));
    expect(history.columns(undefined, 1e9, ['tx'])[0]).toHaveLength(601);
  });
});
