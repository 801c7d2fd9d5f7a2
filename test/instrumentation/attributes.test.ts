import { diag } from '@opentelemetry/api';
import { describe, expect, it, vi } from 'vitest';
import { AgentAttributes } from '../../src/instrumentation/agents/agent-attributes.js';
import { DiagOnce } from '../../src/instrumentation/feed/diag-once.js';
import { AttributeRegistry, type AttributeSpec } from '../../src/mapping/index.js';
import { instrumentation, opener } from './harness.js';
import { agentSnapshot, InMemorySource, START_MS } from './in-memory-source.js';
import { ManualReader, ofAnotherMake, pointsIn, producerOn, providerWith } from './readers.js';

const attributes: AttributeSpec[] = [
  { name: 'pid', source: 'pid', type: 'integer', default: -1 },
  { name: 'site', source: { constant: 'Lab 1' } },
];

describe('the instrumentation, which cannot change its series later', () => {
  it("waits for an agent's process, and has lost nothing when it sees the process", async () => {
    const reader = new ManualReader();
    const one = instrumentation({ attributes });
    one.setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.takenMs = START_MS + 100;
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [500n] })];
    opener.last.taps[0]!.push(1, 6, 500);
    expect(await reader.points('nixl.agent.up')).toEqual([]);

    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a', pid: process.pid }, { 6: [500n] })];
    vi.advanceTimersByTime(1000);
    const labels = { agent_name: 'a', pid: process.pid, site: 'lab_1' };
    const [sum] = await reader.points('agent_xfer_time_total');
    expect(sum).toMatchObject({ value: 500, attributes: labels });
    const [durations] = await reader.points('agent_xfer_time_us');
    expect(durations).toMatchObject({ value: { count: 1, sum: 500 }, attributes: labels });
  });

  it('reports the agent without its process after two seconds, and does not change this later', async () => {
    const reader = new ManualReader();
    instrumentation({ attributes }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.takenMs = START_MS + 2000;
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' })];
    const without = [{ attributes: { pid: -1, site: 'lab_1' } }];
    expect(await reader.points('nixl.agent.up')).toMatchObject(without);
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a', pid: process.pid })];
    expect(await reader.points('nixl.agent.up')).toMatchObject(without);
  });

  it('gives agents that are reported together only their common attributes', async () => {
    const reader = new ManualReader();
    instrumentation({ attributes, seriesLimit: 20 }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.agents = Array.from({ length: 50 }, (_, id) => agentSnapshot({ id, agent: `a${id}` }));
    const points = await reader.points('nixl.agent.up');
    const other = points.find(({ attributes: labels }) => labels['agent_name'] === 'other');
    expect(other?.attributes).toEqual({ hostname: 'h', agent_name: 'other', pid: -1, site: 'lab_1' });
  });
});

describe('a producer', () => {
  it('reports at once, and follows the agent into another process', async () => {
    const source = new InMemorySource();
    const producer = producerOn(source, {}, attributes);
    const pids = async (pid?: number): Promise<unknown[]> => {
      source.agents = [agentSnapshot({ id: 1, agent: 'a', ...(pid === undefined ? {} : { pid }) })];
      return pointsIn(await producer.collect(), 'nixl.agent.up').map(({ attributes: labels }) => labels['pid']);
    };
    expect(await pids()).toEqual([-1]);
    expect(await pids(process.pid)).toEqual([process.pid]);
    expect(await pids()).toEqual([process.pid]);
    expect(await pids(1)).toEqual([1]);
  });
});

describe('the process of an agent', () => {
  it('is probed while it runs, also between two collects', () => {
    let alive = true;
    const watched = new AgentAttributes({
      registry: new AttributeRegistry([{ name: 'rank', source: 'local_rank', type: 'integer' }]),
      hostname: 'h',
      rankVariable: 'LOCAL_RANK',
      log: new DiagOnce(diag),
      readProcess: (pid) => (alive ? { pid, environment: { LOCAL_RANK: '4' } } : undefined),
    });
    const source = new InMemorySource();
    watched.watch(source);
    const agent = agentSnapshot({ id: 1, agent: 'a', pid: 77 });
    source.agents = [agent];
    vi.advanceTimersByTime(250);
    alive = false;
    expect(watched.of({ ...agent, life: 'dead' })).toEqual({ rank: 4 });
    watched.unwatch();
  });
});
