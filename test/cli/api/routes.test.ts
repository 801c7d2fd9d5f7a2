/** /api/v1/agents over HTTP. */
import path from 'node:path';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { type AgentsAnswer, API } from '../../../src/cli/api/answer.js';
import { listenOn } from '../../../src/cli/http/metrics-server.js';
import { publishAgents } from '../../../src/cli/api/routes.js';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import { inspectRing } from '../../../src/shm-bridge/ring.js';
import type { AgentSnapshot, Snapshot } from '../../../src/shm-bridge/types.js';
import { agentSnapshot, START_MS } from '../../instrumentation/in-memory-source.js';
import { start, temporaryDirectory, until } from '../command.js';

it('answers with the events that a live agent wrote, and drains no ring', async () => {
  const dir = temporaryDirectory();
  const file = path.join(dir, 'agent');
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 5n });
  // The first drain is immediate, and the next one ten seconds later.
  const serve = start(['serve', '--dir', dir, '--port', '0', '--drain-interval', '10000']);
  const [, url] = await serve.says(/serves (http:\S+) from/);
  const data = async () => (await (await fetch(new URL('/api/v1/agents', url))).json()) as AgentsAnswer;
  const first = await until(async () => {
    const answer = await data();
    // The process of the ring is found after its first drain.
    return answer.agents[0]?.txBytes === 5 && answer.agents[0].life === 'alive' && answer;
  });
  expect(first).toMatchObject({ api: API, directories: [dir], folded: 0, problems: [] });
  const agent = { agent: 'agent', directory: dir, name: 'agent', life: 'alive', pid: process.pid, capacity: 64 };
  expect(first.agents).toMatchObject([agent]);
  writer.push({ type: 0, value: 6n });
  await until(async () => (await data()).takenMs > first.takenMs);
  expect(inspectRing(file)).toMatchObject({ state: 'ready', pending: 1 });
  writer.close();
});

afterEach(() => void vi.useRealTimers());

function snapshotAt(takenMs: number, agents: AgentSnapshot[]): Snapshot {
  const collector = { drainIntervalMs: 20, ticks: 1, lateTicks: 0, maxLagMs: 0, sinceTickMs: 3 };
  const none = { problems: [], problemCount: 0, stateProblems: [], openDirectories: [], places: [] };
  return { takenMs, agents, ...none, collector };
}

async function publish(agents: number) {
  const server = await listenOn('127.0.0.1', 0);
  let snapshots = 0;
  let closed = false;
  const all = Array.from({ length: agents }, (_, i) => agentSnapshot({ id: i, agent: `a${i}` }));
  const peek = () => {
    snapshots++;
    return closed ? undefined : snapshotAt(START_MS + snapshots * 1000, all);
  };
  const end = publishAgents(server, peek, {
    directories: ['/dir\n'],
    customErrors: [],
    rankVariable: 'LOCAL_RANK',
    attributesOf: ({ agent }) => ({ pool: agent }),
    failingExporters: () => [{ name: 'otlp', failingSinceMs: 5, reason: 'refused' }],
  });
  onTestFinished(end);
  const ask = (query = '') => fetch(new URL(`/api/v1/agents${query}`, server.url));
  return { server, ask, snapshots: () => snapshots, close: () => (closed = true) };
}

it('makes one snapshot in half a second, however many ask', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { server, ask, snapshots } = await publish(1);
  for (const query of ['', '?agents=all', '']) await ask(query);
  expect(snapshots()).toBe(1);
  vi.advanceTimersByTime(501);
  for (const query of ['?agents=all', '']) await ask(query);
  expect(snapshots()).toBe(2);
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

it('answers 503 after the end of the rings', async () => {
  const { server, ask, close } = await publish(1);
  close();
  await until(async () => (await ask()).status === 503);
  await server.close();
});
