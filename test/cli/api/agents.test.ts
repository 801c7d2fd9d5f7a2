import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentsAnswer, MAX_LISTED_AGENTS } from '../../../src/cli/api/agents.js';
import { percentilesOf } from '../../../src/cli/figures/percentiles.js';
import { exponentialSum } from '../../../src/exponential.js';
import type { AgentSnapshot, Snapshot } from '../../../src/shm-bridge/types.js';
import { agentSnapshot, eventTally, START_MS } from '../../instrumentation/in-memory-source.js';
import { ROOT } from '../command.js';
import { comparable, exponentialTally } from '../../support/exponential.js';

const FACTS = { version: '1.2.3', hostname: 'h', directories: ['/dir'], startedMs: 1 };
const ERR_BACKEND = 10;

function dataOf(agents: AgentSnapshot[], about: Partial<Snapshot> = {}, mostAgents?: number) {
  return agentsAnswer(
    { takenMs: START_MS + 5000, agents, problems: [], problemCount: 0, ...about } as Snapshot,
    FACTS,
    [],
    mostAgents,
  );
}

describe('the answer of /api/v1/agents', () => {
  it('has the sums of an agent as doubles, its errors in the order of their names, its times as exponential counts', () => {
    const values = { 0: [2n ** 53n + 1n, 2n ** 53n], 2: [1n, 1n], 6: [7n, 30n], [ERR_BACKEND]: [1n, 1n, 1n] };
    const { agents, errorStatuses } = dataOf([agentSnapshot({ id: 3, agent: 'a', lastEventMs: START_MS }, values)]);
    expect(agents).toMatchObject([{ id: 3, name: 'a', txBytes: 2 ** 54, txRequests: 2, rxBytes: 0, idleMs: 5000 }]);
    expect(agents[0]!.errors[errorStatuses.indexOf('backend')]).toBe(3);
    const { transferTimesUs, postTimesUs } = agents[0]!;
    const { counts, ...rest } = transferTimesUs;
    expect(rest).toEqual({ scale: 4, zeroCount: 0, offset: 44 });
    expect([counts.length, counts[0], counts.at(-1)]).toEqual([35, 1, 1]);
    expect(percentilesOf(transferTimesUs)).toEqual({ p50: 7, p90: 30, p99: 30, max: 30 });
    expect(postTimesUs).toEqual({ scale: 4, zeroCount: 0, offset: 0, counts: [] });
  });

  it('has declared errors behind those of NIXL', () => {
    const stalled = eventTally({ category: 7, type: 77 }, [1n, 1n]);
    const agent = agentSnapshot({ id: 3, agent: 'a' }, { [ERR_BACKEND]: [1n] }, [stalled]);
    const snapshot = { takenMs: START_MS, agents: [agent], problems: [], problemCount: 0 } as unknown as Snapshot;
    const error = { event: 77, kind: 'error', status: 'xfer_stalled' } as const;
    const { agents, errorStatuses } = agentsAnswer(snapshot, FACTS, [error]);
    const counts = Object.fromEntries(errorStatuses.map((status, i) => [status, agents[0]!.errors[i]]));
    expect(counts).toMatchObject({ backend: 1, canceled: 0, xfer_stalled: 2 });
  });

  it('omits agents that are not exported, and distinguishes agents of one name by their paths', () => {
    const { agents } = dataOf([
      agentSnapshot({ id: 1, agent: 'a', path: '/x/a' }),
      agentSnapshot({ id: 2, agent: 'a', path: '/y/a' }),
      agentSnapshot({ id: 3, agent: 'b', path: '/y/b' }),
      agentSnapshot({ id: 4, agent: 'old', exported: false }),
    ]);
    expect(agents.map(({ name }) => name)).toEqual(['/x/a', '/y/a', 'b']);
  });

  it('makes control characters in names and paths visible', () => {
    const problem = { path: '/dir/\n\u0000', state: 'corrupt', reason: 'bad' } as const;
    const data = dataOf([agentSnapshot({ id: 1, agent: 'a\u001b[2J\nb' })], { problems: [problem], problemCount: 1 });
    expect(data.agents[0]).toMatchObject({ name: 'a\\x1b[2J\\x0ab', agent: 'a\u001b[2J\nb' });
    expect(data.problems[0]!.path).toBe('/dir/\\x0a\\x00');
  });

  it('adds up agents beyond the listed ones: the totals are complete', () => {
    const idle = (id: number) => (id <= 10 ? { lastEventMs: START_MS - 3_600_000 } : { lastEventMs: START_MS });
    const agents = Array.from({ length: 2000 }, (_, i) =>
      agentSnapshot({ id: i + 1, agent: `agent-${i + 1}`, pid: 7, ...idle(i + 1) }, { 0: [10n], 6: [5n, BigInt(i)] }),
    );
    const data = dataOf(agents);
    expect(data.agents).toHaveLength(MAX_LISTED_AGENTS + 1);
    expect(data.agents.slice(0, 2).map(({ id }) => id)).toEqual([11, 12]);
    const others = data.agents.at(-1)!;
    expect(others).toMatchObject({ id: -1, name: `${2000 - MAX_LISTED_AGENTS} others`, agent: '', directory: '' });
    expect(others).not.toHaveProperty('pid');
    expect(data.folded).toBe(2000 - MAX_LISTED_AGENTS);
    expect(data.agents.reduce((sum, { txBytes }) => sum + txBytes, 0)).toBe(20_000);
    // 0 to 1999 and two thousand times 5, as one histogram.
    const times = exponentialSum(data.agents.map(({ transferTimesUs }) => transferTimesUs))!;
    const expected = exponentialTally(agents.flatMap((_, i) => [5, i]));
    expect(comparable(times)).toEqual(comparable(expected));

    const whole = dataOf(agents, {}, Infinity);
    expect([whole.agents.length, whole.folded]).toEqual([2000, 0]);
  });

  it('stays below a megabyte with busy agents, as many as it lists', () => {
    const random = (i: number): number => ((i * 48_271) % 2_147_483_647) / 2_147_483_647;
    // A microsecond to ten seconds, and ten thousand transfers.
    const values = Array.from({ length: 10_000 }, (_, i) => BigInt(Math.round(10 ** (7 * random(i + 1)))));
    const busy = agentSnapshot({ id: 1, agent: 'a' }, { 6: values, 7: values });
    const agents = Array.from({ length: 2000 }, (_, i) => ({ ...busy, id: i, agent: `prefill-llama70b-${i}` }));
    expect(JSON.stringify(dataOf(agents)).length).toBeLessThan(1e6);
  });

  it('lists at most fifty problems, and gives their number', () => {
    const problems = Array.from({ length: 1000 }, (_, i) => ({ path: `/${i}`, state: 'corrupt', reason: '' }) as const);
    const data = dataOf([], { problems, problemCount: 5000 });
    expect([data.problems.length, data.problemCount]).toEqual([50, 5000]);
  });
});

describe('docs/json.md', () => {
  const text = readFileSync(path.join(ROOT, 'docs/json.md'), 'utf8');
  /** Fields of the tables, in the order of the page. */
  const tables = text.split(/\n\n/).flatMap((part) => {
    const rows = [...part.matchAll(/^\| `(\w+)`/gm)].map(([, field]) => field!);
    return rows.length > 0 ? [rows] : [];
  });

  it('has each field of an answer, and no other', () => {
    const answer = dataOf([agentSnapshot({ id: 1, agent: 'a', pid: 7 })]);
    const [agent] = answer.agents;
    expect(tables).toEqual([answer, agent!, agent!.transferTimesUs].map((one) => Object.keys(one)));
  });
});
