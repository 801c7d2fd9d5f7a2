import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Inside } from '../../src/ground/inside.js';
import type { NixlInstrumentationConfig } from '../../src/index.js';
import { SeriesLimit } from '../../src/instrumentation/agents/agent-roster.js';
import { NixlInstrumentation } from '../../src/instrumentation/instrumentation.js';
import { FALLBACK } from '../../src/instrumentation/instruments/instruments-mode.js';
import type { AgentSnapshot } from '../../src/shm-bridge/types.js';
import { agentSnapshot, eventTally, type InMemorySource, SourceOpener } from './in-memory-source.js';
import { ManualReader, ofAnotherMake, providerWith, valuesOf } from './readers.js';

let warnings: string[];
let opener: SourceOpener;
let instrumentation: NixlInstrumentation;
let reader: ManualReader;

beforeEach(() => {
  warnings = [];
  const none = () => {};
  const warn = (...line: unknown[]) => {
    if (line[1] !== FALLBACK) warnings.push(String(line[1]));
  };
  diag.setLogger(
    { error: none, warn, info: none, debug: none, verbose: none },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  opener = new SourceOpener();
});

afterEach(() => {
  instrumentation.disable();
  diag.disable();
});

/** Starts with 24 series per instrument: with twelve error statuses there is room for two agents. */
function start(seriesLimit = 24, config: NixlInstrumentationConfig = {}): InMemorySource {
  instrumentation = new NixlInstrumentation(
    { directories: '/rings', hostname: 'h', seriesLimit, ...config },
    new Inside({ openSource: opener.openSource, now: () => 0 }),
  );
  reader = new ManualReader();
  instrumentation.setMeterProvider(ofAnotherMake(providerWith(reader)));
  return opener.last;
}

function sent(id: number, agent: string, bytes: bigint, about: Partial<AgentSnapshot> = {}): AgentSnapshot {
  return agentSnapshot({ id, agent, ...about }, { 0: [bytes] });
}

async function values(name: string): Promise<Record<string, unknown>> {
  return valuesOf(await reader.points(name), 'agent_name');
}

describe('agents beyond the limit of series', () => {
  it('are reported together as "other", with one warning', async () => {
    start().agents = [1, 2, 3, 4].map((id) => sent(id, `agent-${id}`, BigInt(id)));
    expect(await values('agent_tx_bytes_total')).toEqual({ 'agent-1': 1, 'agent-2': 2, other: 7 });
    expect(await values('agent_tx_last_bytes')).toEqual({ 'agent-1': 1, 'agent-2': 2, other: 4 });
    expect(warnings).toEqual([expect.stringMatching(/agent agent-3 .*"other".*metricProducer\(\)/)]);
  });

  it('never make the sums of "other" smaller, also when they leave', async () => {
    const source = start();
    source.agents = [1, 2, 3, 4].map((id) => sent(id, `agent-${id}`, 10n, { memoryInUse: 3n }));
    expect(await values('agent_tx_bytes_total')).toMatchObject({ other: 20 });
    expect(await values('nixl.memory.usage')).toMatchObject({ other: 6 });
    source.agents = [sent(1, 'agent-1', 10n), sent(4, 'agent-4', 15n, { memoryInUse: 3n })];
    expect(await values('agent_tx_bytes_total')).toMatchObject({ other: 25 });
    expect(await values('nixl.memory.usage')).toMatchObject({ other: 3 });
    source.agents.push(sent(5, 'agent-5', 100n));
    expect(await values('agent_tx_bytes_total')).toMatchObject({ other: 125 });
    source.agents = [];
    expect(await values('agent_tx_bytes_total')).toMatchObject({ other: 125 });
  });

  it('add up exactly, beyond 2^53', async () => {
    const source = start();
    source.agents = [1, 2].map((id) => sent(id, `agent-${id}`, 0n));
    await reader.metrics();
    for (let i = 0; i < 4; i++) {
      source.agents[2] = sent(3, 'agent-3', 2n ** 53n + BigInt(i));
      await reader.metrics();
    }
    source.agents[3] = sent(4, 'agent-4', 1n);
    expect(await values('agent_tx_bytes_total')).toMatchObject({ other: 2 ** 53 + 4 });
  });

  it('keep their series after their end: the SDK forgets no series', async () => {
    const source = start();
    source.agents = [1, 2].map((id) => sent(id, `agent-${id}`, 1n));
    await reader.metrics();
    source.agents = [sent(3, 'agent-3', 1n), sent(4, 'agent-2', 5n)];
    expect(await values('agent_tx_bytes_total')).toEqual({ 'agent-1': 1, 'agent-2': 6, other: 1 });
  });

  it('include agents that return with other attributes: these are other series', async () => {
    const source = start(24, { attributes: [{ name: 'pid', source: 'pid', type: 'integer' }] });
    for (const id of [1, 2, 3]) {
      source.agents = [sent(id, 'agent', 1n, { pid: 2 ** 30 + id })]; // no such process
      await reader.metrics();
    }
    const points = await reader.points('agent_tx_bytes_total');
    expect(points.map(({ attributes }) => attributes['pid'])).toEqual([2 ** 30 + 1, 2 ** 30 + 2, undefined]);
  });

  it.each([
    [
      'disable() and enable()',
      () => {
        instrumentation.disable();
        instrumentation.enable();
      },
    ],
    ['setConfig()', () => instrumentation.setConfig({ ...instrumentation.getConfig(), deadTtlMs: 1000 })],
  ])('keep their totals over %s', async (_, beginAgain) => {
    start().agents = [1, 2, 3].map((id) => sent(id, `agent-${id}`, 10n));
    expect(await values('agent_tx_bytes_total')).toMatchObject({ other: 10 });
    opener.last.agents[2] = sent(3, 'agent-3', 11n); // after the last collect
    beginAgain();
    opener.last.agents = [11, 12, 13].map((id) => sent(id, `agent-${id - 10}`, 4n));
    expect(await values('agent_tx_bytes_total')).toEqual({ 'agent-1': 14, 'agent-2': 14, other: 15 });
  });

  it('have their durations recorded as "other"', async () => {
    const source = start();
    source.agents = [1, 2, 3, 4].map((id) => sent(id, `agent-${id}`, 1n));
    for (const id of [1, 2, 3, 4]) source.taps[0]!.push(id, 6, id);
    const points = (await reader.points('agent_xfer_time_us')) as DataPoint<Histogram>[];
    const sums = Object.entries(valuesOf(points, 'agent_name')).map(([agent, value]) => [
      agent,
      (value as Histogram).sum,
    ]);
    expect(Object.fromEntries(sums)).toEqual({ 'agent-1': 1, 'agent-2': 2, other: 7 });
  });

  it('include an agent with the name "other", from the start and without a warning', async () => {
    start().agents = [sent(1, 'other', 5n), sent(2, 'a', 1n)];
    expect(await values('agent_tx_bytes_total')).toEqual({ other: 5, a: 1 });
    expect(warnings).toEqual([]);
  });

  it.each(['standard', 'full'] as const)('stay within the limit of the SDK, with series %s', async (series) => {
    const source = start(1900, { series });
    const more = (agent: number) =>
      Array.from({ length: 100 }, (_, i) => eventTally({ category: 3, name: `event-${agent}-${i}` }, [1n]));
    source.agents = Array.from({ length: 300 }, (_, i) =>
      agentSnapshot({ id: i, agent: `agent-${i}` }, { 0: [1n] }, more(i)),
    );
    let total = 0;
    for (const { descriptor, dataPoints } of await reader.metrics()) {
      expect(dataPoints.length, descriptor.name).toBeLessThan(1999);
      if (descriptor.name !== 'nixl.events') continue;
      for (const { value } of dataPoints) total += value as number;
    }
    expect(total).toBe(300 * 101);
  });
});

describe('events beyond the limit of series', () => {
  it('are reported as "other" without their agent, which keeps its series', async () => {
    const source = start(24, { series: 'full' });
    const keys = Array.from({ length: 30 }, (_, i) => eventTally({ category: 3, name: `event-${i}` }, [1n]));
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, keys.slice(0, 20))];
    await reader.metrics();
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, keys)];
    const points = await reader.points('nixl.events');
    const own = points.filter(({ attributes }) => attributes.agent_name === 'a');
    expect([own.length, points.length - own.length]).toEqual([24, 6]);
    source.agents = [
      agentSnapshot(
        { id: 1, agent: 'a' },
        {},
        keys.map((key) => ({ ...key, count: 3 })),
      ),
    ];
    const again = await reader.points('nixl.events');
    expect(again.map(({ value }) => value)).toEqual(new Array(30).fill(3));
  });
});

describe('the series limit', () => {
  it('admits known agents and events again, and gives "other" a limited number of events', () => {
    const limit = new SeriesLimit({ limit: 24, widest: 12, besideEvents: 0 });
    expect(['a', 'b', 'c', 'a'].map((agent) => limit.admits(agent, 0))).toEqual([true, true, false, true]);
    expect(limit.admitsEvent('a', 'x')).toBe(true);
    expect(limit.admitsEvent('c', 'x')).toBe(false);
    const events = Array.from({ length: 200 }, (_, i) => limit.admitsFoldedEvent(`event-${i}`));
    expect(events.filter(Boolean)).toHaveLength(90);
    expect(limit.admitsFoldedEvent('event-0')).toBe(true);
  });

  it('does not admit an agent without room for its events', () => {
    expect(new SeriesLimit({ limit: 24, widest: 12, besideEvents: 0 }).admits('a', 25)).toBe(false);
  });

  it('shares the room of an instrument between events and other series', () => {
    const limit = new SeriesLimit({ limit: 24, widest: 12, besideEvents: 5 });
    expect([limit.admits('a', 20), limit.admits('a', 19), limit.admits('b', 15)]).toEqual([false, true, false]);
    const events = Array.from({ length: 30 }, (_, i) => limit.admitsEvent('a', `event-${i}`));
    expect(events.filter(Boolean)).toHaveLength(19);
  });
});
