/** /api/v1/agents over HTTP. */
import { SlownessJudge } from '../../../src/view/slowness/slowness-judge.js';
import path from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { type AgentDetail, type AgentsAnswer, API } from '../../../src/view/answers/answer.js';
import { type HistoryAnswer, HISTORY_PATH } from '../../../src/view/answers/history-answer.js';
import { listenOn } from '../../../src/serve/http/metrics-server.js';
import { publishAgents } from '../../../src/serve/api/routes.js';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import { inspectRing } from '../../../src/shm-bridge/ring.js';
import type { AgentSnapshot, Snapshot } from '../../../src/shm-bridge/types.js';
import { agentSnapshot, START_MS } from '../../instrumentation/in-memory-source.js';
import { start, temporaryDirectory, until } from '../../cli/command.js';

async function serving(directory: string, ...flags: string[]) {
  const [, url] = await start(['serve', '--dir', directory, '--port', '0', ...flags]).says(/serves (http:\S+) from/);
  return async () => (await (await fetch(new URL('/api/v1/agents', url))).json()) as AgentsAnswer;
}

function ringIn(directory: string) {
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  onTestFinished(() => writer.close());
  writer.push({ type: 0, value: 5n });
  return writer;
}

it('answers with the events that a live agent wrote', async () => {
  const directory = temporaryDirectory();
  ringIn(directory);
  const data = await serving(directory);
  const first = await until(async () => {
    const answer = await data();
    // The process of the ring is found after its first drain.
    return answer.agents[0]?.txBytes === 5 && answer.agents[0].pid !== undefined && answer;
  });
  expect(first).toMatchObject({ api: API, directories: [directory], folded: 0, problems: [] });
  const agent = { agent: 'agent', directory, name: 'agent', life: 'alive', pid: process.pid, capacity: 64 };
  expect(first.agents).toMatchObject([agent]);
});

it('drains no ring', async () => {
  const directory = temporaryDirectory();
  const writer = ringIn(directory);
  // The first drain is immediate, and the next one ten seconds later.
  const data = await serving(directory, '--drain-interval', '10000');
  const first = await until(async () => {
    const answer = await data();
    return answer.agents[0]?.txBytes === 5 && answer;
  });
  writer.push({ type: 0, value: 6n });
  await until(async () => (await data()).takenMs > first.takenMs);
  expect(inspectRing(path.join(directory, 'agent'))).toMatchObject({ state: 'ready', pending: 1 });
});

afterEach(() => void vi.useRealTimers());

function snapshotAt(takenMs: number, agents: AgentSnapshot[]): Snapshot {
  const collector = { drainIntervalMs: 20, ticks: 1, lateTicks: 0, maxLagMs: 0, sinceTickMs: 3 };
  const none = { problems: [], problemCount: 0, stateProblems: [], stateLosses: [], openDirectories: [], places: [] };
  return { takenMs, agents, ...none, collector };
}

async function publish(agents: number) {
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }]);
  let snapshots = 0;
  let closed = false;
  const all = Array.from({ length: agents }, (_, i) => agentSnapshot({ id: i, agent: `a${i}` }));
  const peek = () => {
    snapshots++;
    return closed ? undefined : snapshotAt(START_MS + snapshots * 1000, all);
  };
  const end = publishAgents(
    server,
    { peek, peekInSlices: () => Promise.resolve(peek()) },
    {
      hostname: 'gpu-7\n',
      directories: ['/dir\n'],
      globs: ['/dir/\n*'],
      customErrors: [],
      sysPath: '/sys',
      showWays: () => {},
      endedKeptMs: 3_600_000,
      rankVariable: 'LOCAL_RANK',
      engineOf: () => undefined,
      identify: () => Promise.resolve(),
      attributesOf: ({ agent }) => ({ pool: agent }),
      failingExporters: () => [{ name: 'otlp', failingSinceMs: 5, reason: 'refused' }],
      sizes: { read: () => Promise.resolve(undefined), judge: new SlownessJudge(), groupOf: () => undefined },
      showFindings: () => {},
      acceptMs: 86_400_000,
      keepsState: false,
    },
  );
  onTestFinished(end);
  const ask = (query = '') => fetch(new URL(`/api/v1/agents${query}`, server.urls[0]));
  return { server, ask, snapshots: () => snapshots, close: () => (closed = true) };
}

it('makes one snapshot in half a second, however many ask', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { server, ask, snapshots } = await publish(1);
  const before = snapshots();
  for (const query of ['', '?agents=all', '']) await ask(query);
  expect(snapshots()).toBe(before + 1);
  vi.advanceTimersByTime(501);
  for (const query of ['?agents=all', '']) await ask(query);
  expect(snapshots()).toBe(before + 2);
  await server.close();
});

it('lists all agents if it is asked to, and refuses other questions', async () => {
  const { server, ask } = await publish(300);
  const listed = async (query?: string) => ((await (await ask(query)).json()) as AgentsAnswer).agents.length;
  expect([await listed(), await listed('?agents=all'), await listed('?target=x')]).toEqual([257, 300, 257]);
  const refused = await ask('?agents=300');
  expect([refused.status, await refused.text()]).toEqual([400, 'agents=300 is not allowed. Allowed: agents=all\n']);
  await server.close();
});

it('answers questions about one agent, without histograms, and about the history', async () => {
  const { server, ask } = await publish(3);
  const json = async (query: string) => (await (await ask(query)).json()) as AgentsAnswer<AgentDetail>;
  const one = await json('?agent=2');
  expect(one.agents).toMatchObject([{ id: 2, name: 'a2', attributes: { pool: 'a2' }, txSizes: { scale: 0 } }]);
  expect(one.failingExporters).toEqual([{ name: 'otlp', failingSinceMs: 5, reason: 'refused' }]);
  expect((await json('?agent=7')).agents).toEqual([]);
  const brief = await json('?detail=none&agents=all');
  expect(brief.agents.map(({ id }) => id)).toEqual([0, 1, 2]);
  expect(brief.agents[0]).not.toHaveProperty('txSizes');
  for (const query of ['?detail=all', '?agent=x', '?agent=1&agents=all', '?agent=1&detail=none']) {
    expect((await ask(query)).status).toBe(400);
  }
  const asked = async (query: string) => {
    const response = await fetch(new URL(`/${HISTORY_PATH}${query}`, server.urls[0]));
    return [response.status, await response.text()] as const;
  };
  const history = JSON.parse((await asked('?agents=all'))[1]) as HistoryAnswer;
  expect(history).toMatchObject({ api: API, events: [], fleet: { errors: {} } });
  expect(history.agents.map(({ tx }) => tx.length)).toEqual(history.agents.map(() => history.agentTimesMs.length));
  expect(JSON.parse((await asked('?from=99999999999999'))[1])).toMatchObject({ timesMs: [], agents: [] });
  for (const from of ['-1', '1e3', '.5', '7.', 'x']) {
    expect(await asked(`?from=${from}`)).toEqual([
      400,
      `from=${from} is not allowed. Allowed: milliseconds since the epoch\n`,
    ]);
  }
  await server.close();
});

it('gives the points after a time with a fraction, as takenMs of /api/v1/agents has it', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { server, ask } = await publish(1);
  for (let i = 0; i < 3; i++) {
    vi.advanceTimersByTime(501);
    await ask();
  }
  const timesFrom = async (from: number) => {
    const response = await fetch(new URL(`/${HISTORY_PATH}?from=${from}`, server.urls[0]));
    return ((await response.json()) as HistoryAnswer).timesMs;
  };
  const all = await until(async () => {
    const times = await timesFrom(0);
    return times.length >= 3 && times;
  });
  expect(await timesFrom(all[1]! - 0.5)).toEqual(all.slice(1));
  expect(await timesFrom(all[1]! + 0.5)).toEqual(all.slice(2));
  await server.close();
});

it('answers 503 after the end of the rings', async () => {
  const { server, ask, close } = await publish(1);
  close();
  await until(async () => (await ask()).status === 503);
  await server.close();
});
