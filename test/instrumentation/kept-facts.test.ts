/** Facts about an agent's process that a state file keeps for the next serve. */
import { expect, it, vi } from 'vitest';
import { AgentAttributes } from '../../src/instrumentation/agents/agent-attributes.js';
import { factsIn, type KeptFacts, keptText } from '../../src/instrumentation/agents/kept-facts.js';
import { DiagOnce } from '../../src/instrumentation/feed/diag-once.js';
import { type AgentSnapshot, AttributeRegistry } from '../../src/mapping/index.js';
import { processStart } from '../../src/shm-bridge/agent-process.js';
import { agentSnapshot, InMemorySource } from './in-memory-source.js';

const OWN_START = processStart(process.pid)!;
const FACTS: KeptFacts = {
  pid: 7,
  start: '123',
  instance: 2,
  environment: { RANK: '4', POD: 'Pod-1' },
  gpus: ['H200'],
  name: 'python',
  containerId: 'c1',
  podUid: 'u-1',
};
const IDENTITY = { name: 'python', container: 'c1', uid: 'u-1' };
const ATTRIBUTES = { pid: 7, instance: 2, rank: 4, pod: 'pod_1', gpus: '1_H200_1', ...IDENTITY };

const registry = new AttributeRegistry([
  { name: 'pid', source: 'pid', type: 'integer' },
  { name: 'instance', source: 'agent_instance', type: 'integer' },
  { name: 'rank', source: 'local_rank', type: 'integer' },
  { name: 'pod', source: { agentEnv: 'POD' } },
  { name: 'gpus', source: 'gpu_identifier' },
  { name: 'name', source: 'process_name' },
  { name: 'container', source: 'container_id' },
  { name: 'uid', source: 'pod_uid' },
]);

type Process = Pick<KeptFacts, 'environment' | 'gpus'>;

/** Attributes over a source in memory. `processes`: those that can be read, by pid. */
function attributesOver(source: InMemorySource, processes: Record<number, Process>, debug = vi.fn()) {
  const log = new DiagOnce({ debug, error: debug, warn: debug, info: debug, verbose: debug });
  const readProcess = (pid: number) => processes[pid] && { pid, ...processes[pid] };
  const readIdentity = () => undefined;
  const made = new AgentAttributes({ registry, hostname: 'h', rankVariable: 'RANK', log, readProcess, readIdentity });
  made.watch(source);
  return made;
}

/** Returns the attributes of an agent that is alone in its snapshot. */
function attributesIn(attributes: AgentAttributes, agent: AgentSnapshot) {
  attributes.number([agent]);
  return attributes.of(agent);
}

it('keeps what it reads about a process, once, and again for another process', () => {
  const source = new InMemorySource();
  const processes = { [process.pid]: { environment: { RANK: '4', POD: undefined } }, 8: { environment: {} } };
  const attributes = attributesOver(source, processes);
  const keep = vi.spyOn(source, 'keepAttributes');
  const agent = agentSnapshot({ id: 1, agent: 'a', pid: process.pid });
  for (let i = 0; i < 3; i++) attributesIn(attributes, agent);
  expect(keep).toHaveBeenCalledTimes(1);
  expect(factsIn(source.kept.get(1)!)).toEqual({
    pid: process.pid,
    start: OWN_START,
    instance: 0,
    environment: { RANK: '4' },
  });
  attributesIn(attributes, { ...agent, pid: 8 });
  expect(factsIn(source.kept.get(1)!)).toMatchObject({ pid: 8, environment: {} });
  attributes.unwatch();
});

it('gives the kept attributes to an agent of a process that has ended', () => {
  const source = new InMemorySource();
  const attributes = attributesOver(source, { 9: { environment: { RANK: '1' } } });
  const agent = agentSnapshot({ id: 1, agent: 'a', life: 'dead', keptAttributes: keptText(FACTS)! });
  expect(attributesIn(attributes, agent)).toEqual(ATTRIBUTES);
  expect(source.kept.size).toBe(0);
  // A process that lives has the first claim, also if it has the same pid.
  expect(attributesIn(attributes, { ...agent, life: 'alive', pid: 9 })).toEqual({ pid: 9, instance: 0, rank: 1 });
  attributes.unwatch();
});

it('takes what was kept about a process that ends before it can be read, but not about another one', () => {
  const kept = (start: string) => keptText({ ...FACTS, pid: process.pid, start })!;
  const of = (keptAttributes: string) => {
    const attributes = attributesOver(new InMemorySource(), {});
    attributes.unwatch();
    return attributesIn(attributes, agentSnapshot({ id: 1, agent: 'a', pid: process.pid, keptAttributes }));
  };
  expect(of(kept(OWN_START))).toEqual({ ...ATTRIBUTES, pid: process.pid });
  expect(of(kept('1'))).toEqual({ pid: process.pid, instance: 0 });
});

it('continues the numbers of the agents of a process, whichever of them are left', () => {
  const attributes = attributesOver(new InMemorySource(), { [process.pid]: { environment: {} } });
  attributes.unwatch();
  const agent = (id: number, start?: string, instance?: number) =>
    agentSnapshot({
      id,
      agent: `a${id}`,
      pid: process.pid,
      ...(start !== undefined && { keptAttributes: keptText({ ...FACTS, pid: process.pid, start, instance })! }),
    });
  const agents = [agent(1), agent(2, OWN_START, 5), agent(3, OWN_START, 3), agent(4, '1', 9)];
  attributes.number(agents);
  expect(agents.map((one) => attributes.of(one)['instance'])).toEqual([6, 5, 3, 7]);
});

it('keeps the number of an agent that a snapshot in slices lacks, because it was attached meanwhile', () => {
  const processes = { [process.pid]: { environment: { RANK: '4' } } };
  const attributes = attributesOver(new InMemorySource(), processes);
  attributes.unwatch();
  const [old, late] = [1, 2].map((id) => agentSnapshot({ id, agent: `a${id}`, pid: process.pid }));
  attributes.number([old!, late!]);
  const resolved = attributes.resolved(late!);
  attributes.resolved(old!);
  attributes.keep([old!]);
  attributes.number([old!, late!]);
  expect(attributes.resolved(late!)).toBe(resolved);
  expect(resolved.attributes).toMatchObject({ instance: 1, rank: 4 });
  attributes.keep([old!, late!]);
  // Two snapshots in a row lack an agent that has gone.
  for (let i = 0; i < 2; i++) attributes.keep([old!]);
  expect(attributes.resolved(late!)).not.toBe(resolved);
  attributes.keep([]);
});

it('keeps neither a text that is too long nor that of an earlier process, and logs this once, at level debug', () => {
  const source = new InMemorySource();
  const debug = vi.fn();
  const attributes = attributesOver(source, { 8: { environment: { POD: 'x'.repeat(5000) } } }, debug);
  const agent = agentSnapshot({ id: 1, agent: 'a', pid: 8, keptAttributes: keptText(FACTS)! });
  expect(attributesIn(attributes, agent)).toMatchObject({ pid: 8, pod: 'x'.repeat(5000) });
  attributesIn(attributes, { ...agent, id: 2 });
  expect([...source.kept]).toEqual([
    [1, ''],
    [2, ''],
  ]);
  expect(debug.mock.calls).toEqual([
    [expect.stringContaining('attributes of ring /dev/shm/nixl/a take more than 4096 bytes')],
  ]);
  attributes.unwatch();
});

it.each([
  '',
  'null',
  '[]',
  '{}',
  '{"version":1',
  ...[
    { version: 2 },
    { pid: 0 },
    { pid: '7' },
    { start: 5 },
    { instance: -1 },
    { instance: 1e300 },
    { environment: ['RANK=4'] },
    { environment: { RANK: 4 } },
    { gpus: 'H200' },
    { gpus: [1] },
    { name: 7 },
    { containerId: null },
    { podUid: ['u'] },
  ].map((wrong) => JSON.stringify({ version: 1, ...FACTS, ...wrong })),
])('ignores a text that it has not made: %s', (text) => {
  expect(factsIn(text)).toBeUndefined();
  expect(factsIn(keptText(FACTS)!)).toEqual(FACTS);
});
