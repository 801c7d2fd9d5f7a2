import { readFileSync } from 'node:fs';
import { IncidentLog } from '../../../src/view/incidents/incident-log.js';
import type { Finding } from '../../../src/view/verdict/types.js';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentAnswer } from '../../../src/serve/api/agent-detail.js';
import { agentsAnswer, agentsSummary, MAX_LISTED_AGENTS } from '../../../src/serve/api/agents.js';
import { fleetAnswer } from '../../../src/serve/api/history.js';
import { Recorder } from '../../../src/serve/history/recorder.js';
import type { CustomError } from '../../../src/mapping/index.js';
import { percentilesOf } from '../../../src/view/figures/percentiles.js';
import { exponentialSum } from '../../../src/ground/exponential.js';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import type { AgentSnapshot, Snapshot } from '../../../src/shm-bridge/types.js';
import { agentSnapshot, eventTally, START_MS } from '../../instrumentation/in-memory-source.js';
import { ROOT, temporaryDirectory } from '../../cli/command.js';
import { comparable, exponentialTally } from '../../support/exponential.js';

const FACTS = { version: '1.2.3', hostname: 'h', directories: ['/dir'], globs: [], startedMs: 1 };
const ERR_BACKEND = 10;

const COLLECTOR = { drainIntervalMs: 20, ticks: 1, lateTicks: 0, maxLagMs: 0, sinceTickMs: 3.3 };

function snapshotOf(agents: AgentSnapshot[], about: Partial<Snapshot> = {}): Snapshot {
  return {
    takenMs: START_MS + 5000,
    agents,
    problems: [],
    problemCount: 0,
    stateProblems: [],
    stateLosses: [],
    openDirectories: [],
    places: [],
    collector: COLLECTOR,
    ...about,
  };
}

/** Returns what an answer is made of, after samples of these snapshots. */
function sourceOf(snapshots: readonly Snapshot[], customErrors: readonly CustomError[] = []) {
  // The recorder itself takes the first sample.
  const left = [snapshots[0], ...snapshots];
  const recorder = new Recorder({
    peek: () => left.shift(),
    peekInSlices: () => expect.unreachable(),
    customErrors,
    beganMs: START_MS,
    onFailure: expect.unreachable,
    later: (work) => work(),
  });
  let sample = recorder.sample()!;
  while (left.length > 0) sample = recorder.sample(-1)!;
  recorder.close();
  return {
    facts: FACTS,
    recorder,
    sample,
    failingExporters: [],
    judge: { facts: [], unjudged: 0 },
    ways: { of: () => ({}), ports: [] },
    engineOf: () => ({ engine: 'vllm' }),
    gpusOf: (id: number) => `${id},7`,
    processOf: (id: number) => ({ uid: 1000, rank: String(id), gpuModels: ['H100'] }),
    attributesOf: ({ agent }: AgentSnapshot) => ({ pool: agent }),
  };
}

/** Returns what a client reads: JSON has no fields that are undefined. */
const sent = <Answer>(answer: Answer) => JSON.parse(JSON.stringify(answer)) as Answer;

function dataOf(agents: AgentSnapshot[], about: Partial<Snapshot> = {}, mostAgents?: number) {
  return sent(agentsAnswer(sourceOf([snapshotOf(agents, about)]), mostAgents));
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
    expect([counts.length, counts[0], counts[34]]).toEqual([35, 1, 1]);
    expect(percentilesOf(transferTimesUs)).toEqual({ p50: 7, p90: 30, p99: 30, max: 30, count: 2 });
    expect(postTimesUs).toEqual({ scale: 4, zeroCount: 0, offset: 0, counts: [] });
  });

  it('has declared errors behind those of NIXL', () => {
    const stalled = eventTally({ category: 7, type: 77 }, [1n, 1n]);
    const agent = agentSnapshot({ id: 3, agent: 'a' }, { [ERR_BACKEND]: [1n] }, [stalled]);
    const error = { event: 77, kind: 'error', status: 'xfer_stalled' } as const;
    const { agents, errorStatuses } = agentsAnswer(sourceOf([snapshotOf([agent])], [error]));
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

describe('other answers', () => {
  it('leaves histograms out if no detail is asked for', () => {
    const agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [10n], 6: [5n] })];
    const whole = dataOf(agents).agents[0]!;
    const [summary] = agentsSummary(sourceOf([snapshotOf(agents)])).agents;
    const histograms = ['transferTimesUs', 'postTimesUs', 'txSizes', 'rxSizes'];
    const rest = Object.entries(whole).filter(([key]) => !histograms.includes(key));
    expect(summary).toEqual(Object.fromEntries(rest));
  });

  it('has a small summary of three hundred agents', () => {
    const agents = Array.from({ length: 300 }, (_, i) =>
      agentSnapshot({ id: i, agent: `prefill-llama70b-${i}` }, { 0: [2n ** 40n], 6: [5n, 900n] }),
    );
    expect(JSON.stringify(agentsSummary(sourceOf([snapshotOf(agents)]), Infinity)).length).toBeLessThan(300 * 800);
  });

  it('has all that is known of one agent', () => {
    const source = sourceOf([snapshotOf([agentSnapshot({ id: 3, agent: 'a' }), agentSnapshot({ id: 4, agent: 'b' })])]);
    const { agents } = sent(agentAnswer(source, 4));
    expect(agents).toMatchObject([
      { id: 4, name: 'b', uid: 1000, rank: '4', gpus: '4,7', gpuModels: ['H100'], attributes: { pool: 'b' } },
    ]);
    expect(agents[0]!.transferTimesUs).toBeDefined();
    expect(agents[0]).not.toHaveProperty('ring'); // there is no such file
    expect(agentAnswer(source, 5).agents).toEqual([]);
  });

  it('has recent percentiles, troubles and ends of the last samples', () => {
    const at = (seconds: number, life: 'alive' | 'dead', about: Partial<AgentSnapshot>, values: number) =>
      snapshotOf(
        [
          agentSnapshot(
            { id: 1, agent: 'a', life, memoryInUse: 10n, ...about },
            {
              2: Array.from({ length: values }, () => 1n),
              6: Array.from({ length: values }, (_, i) => BigInt(i + 1)),
              [ERR_BACKEND]: Array.from({ length: values - 1 }, () => 1n),
            },
          ),
        ],
        { takenMs: START_MS + seconds * 1000 },
      );
    const source = sourceOf([at(0, 'alive', {}, 1), at(5, 'alive', {}, 2), at(6, 'dead', { foundFull: 3 }, 4)]);
    const { agents, ended, recentTransferTimeUs } = sent(agentsAnswer(source));
    expect(recentTransferTimeUs).toEqual({ p50: 3, p90: 4, p99: 4, max: 4, count: 3 });
    expect(agents[0]).toMatchObject({ recentTransferTimeUs, endedMs: START_MS + 6000 });
    expect(agents[0]).not.toHaveProperty('recentPostTimeUs');
    const seen = {
      transferring: true,
      movedMs: START_MS + 6000,
      memoryBytes: 10,
      errors: 3,
      errorsSinceMs: START_MS + 5000,
    };
    expect(ended).toEqual([{ id: 1, name: 'a', endedMs: START_MS + 6000, ...seen, endsOfPlace: 1 }]);
    const { full, errors } = agents[0]!.troubles;
    expect(full).toMatchObject({ count: 3, sinceMs: START_MS + 6000 });
    expect(errors).toMatchObject({ count: 3, sinceMs: START_MS + 5000, statuses: [['backend', 3]] });
  });

  it('sums up the troubles of agents that it does not list', () => {
    const of = (full: number) =>
      [1, 2, 3].map((id) => agentSnapshot({ id, agent: `a${id}`, foundFull: full * id }, { [ERR_BACKEND]: [1n] }));
    const source = sourceOf([snapshotOf(of(1), { takenMs: START_MS - 1 }), snapshotOf(of(2))]);
    expect(agentsAnswer(source, 1).agents.at(-1)!.troubles.full).toMatchObject({ count: 10, lastMinute: 10 });
  });
});

describe('docs/json.md', () => {
  const FAILING: Finding = { kind: 'failing', tone: 'bad', shape: 'cross', word: 'Fails', sentence: 'a', agents: [] };
  const text = readFileSync(path.join(ROOT, 'docs/json.md'), 'utf8');
  /** Fields of the tables, in the order of the page. */
  const tables = text.split(/\n\n/).flatMap((part) => {
    const rows = [...part.matchAll(/^\| `(\w+)`/gm)].map(([, field]) => field!);
    return rows.length > 0 ? [rows] : [];
  });

  /** An answer with all optional fields. */
  function wholeAnswer() {
    const file = path.join(temporaryDirectory(), 'a');
    new RingWriter(file, { wireVersion: 4, capacity: 64 }).close();
    const alive = { id: 1, agent: 'a', path: file, pid: 7, life: 'alive' } as const;
    const before = snapshotOf([agentSnapshot(alive)], { takenMs: START_MS - 6000 });
    const collector = { ...COLLECTOR, sinceTickMs: 5000 };
    const dead = agentSnapshot(
      { ...alive, life: 'dead', flushIntervalMs: 100, writers: [7, 8] },
      { 6: [7n], 7: [1n], [ERR_BACKEND]: [1n] },
    );
    return sourceOf([before, snapshotOf([dead], { collector })]);
  }

  it('has each field of an answer, and no other', () => {
    const log = new IncidentLog();
    log.take(1, [FAILING]);
    log.take(2, []);
    const source = { ...wholeAnswer(), lastTrouble: log.lastTrouble };
    const answer = sent(agentsAnswer(source));
    const [agent] = answer.agents;
    const detail = Object.keys(sent(agentAnswer({ ...source }, 1)).agents[0]!).filter(
      (key) => !Object.hasOwn(agent!, key),
    );
    const expected = [answer, agent!, agent!.transferTimesUs].map((one) => Object.keys(one));
    expect(tables.slice(0, 4)).toEqual([expected[0], expected[1], [...detail], expected[2]]);
    const history = fleetAnswer(source.recorder, { fromMs: 0, startedMs: 1, takenMs: 1 });
    expect(tables[4]).toEqual([...Object.keys(history), 'agentTimesMs', 'agents']);
    expect(tables[5]).toEqual(Object.keys(history.fleet));
  });
});

it('an event later than the snapshot, by the clock of its agent, is no negative idle time', () => {
  const late = agentSnapshot({ id: 3, agent: 'a', lastEventMs: START_MS + 6000 });
  expect(agentsSummary(sourceOf([snapshotOf([late])])).agents).toMatchObject([{ idleMs: 0 }]);
});
