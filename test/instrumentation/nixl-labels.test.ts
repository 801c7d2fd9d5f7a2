/** Labels of prometheus_mp, series of older releases, and declared errors, in a producer and in the instruments. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { AggregationTemporality } from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { AgentInstances } from '../../src/instrumentation/agents/agent-instances.js';
import { temporaryDirectory, untilYoungerThan } from '../support/live.js';
import { instrumentation, log, opener } from './harness.js';
import { agentSnapshot, eventTally, InMemorySource, START_MS } from './in-memory-source.js';
import {
  ManualReader,
  metricIn,
  ofAnotherMake,
  pointsIn,
  producerOn,
  providerWith,
  scrape,
  valuesOf,
} from './readers.js';

describe('the labels of prometheus_mp', () => {
  it('are empty if the process cannot be seen', async () => {
    const source = new InMemorySource();
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n] })];
    const page = await scrape(producerOn(source, { nixlLabels: 'prometheus_mp' }));
    expect(page).toContain(
      'agent_tx_bytes_total{hostname="h",agent_name="a",pid="",agent_instance="",local_rank=""} 5',
    );
    expect(page).toContain('nixl_agent_up{hostname="h",agent_name="a"} 1');
  });

  it('are exported beside attributes of other names', async () => {
    const source = new InMemorySource();
    source.agents = [agentSnapshot({ id: 1, agent: 'a', pid: process.pid }, { 0: [5n] })];
    const attributes = [{ name: 'rank', source: { constant: 'r' } }];
    const producer = producerOn(source, { nixlLabels: 'prometheus_mp' }, attributes);
    const [bytes] = pointsIn(await producer.collect(), 'agent_tx_bytes_total');
    const pid = String(process.pid);
    const shared = { hostname: 'h', agent_name: 'a', rank: 'r' };
    expect(bytes!.attributes).toEqual({ ...shared, pid, agent_instance: '0', local_rank: '' });
    const [up] = pointsIn(await producer.collect(), 'nixl.agent.up');
    expect(up!.attributes).toEqual(shared);
  });

  it('start new series in the instruments when the process changes, while series of this package continue', async () => {
    const reader = new ManualReader();
    instrumentation({ nixlLabels: 'prometheus_mp' }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a', pid: process.pid }, { 0: [5n] })];
    await reader.points('nixl.events');
    opener.last.agents = [];
    await reader.points('nixl.events');
    opener.last.agents = [agentSnapshot({ id: 2, agent: 'a', pid: 1 }, { 0: [7n] })];
    const bytes = await reader.points('agent_tx_bytes_total');
    expect(bytes.map(({ attributes: { pid }, value }) => [pid, value])).toEqual([
      [String(process.pid), 5],
      ['1', 7],
    ]);
    const [events] = await reader.points('nixl.events');
    expect(events).toMatchObject({ value: 2 });
  });

  it('make an agent of the instruments wait until its process is seen', async () => {
    const reader = new ManualReader();
    instrumentation({ nixlLabels: 'prometheus_mp' }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.takenMs = START_MS + 100;
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n] })];
    expect(await reader.points('agent_tx_bytes_total')).toEqual([]);
    opener.last.takenMs = START_MS + 2000;
    expect(await reader.points('agent_tx_bytes_total')).toMatchObject([{ value: 5, attributes: { pid: '' } }]);
  });

  it('do not make an agent of the instruments wait whose process is seen at once', async () => {
    const reader = new ManualReader();
    instrumentation({ nixlLabels: 'prometheus_mp' }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.takenMs = START_MS + 100;
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a', pid: process.pid }, { 0: [5n] })];
    const attributes = { pid: String(process.pid), agent_instance: '0' };
    expect(await reader.points('agent_tx_bytes_total')).toMatchObject([{ value: 5, attributes }]);
  });

  it('are empty if agents are reported together', async () => {
    const reader = new ManualReader();
    const one = instrumentation({ nixlLabels: 'prometheus_mp', seriesLimit: 20 });
    one.setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.takenMs = START_MS + 2000;
    opener.last.agents = Array.from({ length: 50 }, (_, id) => agentSnapshot({ id, agent: `a${id}` }, { 0: [1n] }));
    const points = await reader.points('agent_tx_bytes_total');
    const other = points.find(({ attributes }) => attributes['agent_name'] === 'other');
    expect(other?.attributes).toMatchObject({ pid: '', agent_instance: '', local_rank: '' });
  });
});

describe('series of older releases', () => {
  it('have no instrument of kind counter', async () => {
    const reader = new ManualReader();
    instrumentation({ nixlRelease: '1.0' }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n, 6n], 6: [9n], 11: [1n] })];
    const metrics = await reader.metrics();
    const own = metrics.filter(({ descriptor }) => descriptor.name.startsWith('agent_'));
    expect(own.map(({ descriptor }) => descriptor.name).filter((name) => name.endsWith('_us'))).toEqual([]);
    expect(await reader.points('agent_tx_bytes')).toMatchObject([
      { value: 11, attributes: { category: 'NIXL_TELEMETRY_TRANSFER' } },
    ]);
    // Events without a series in that release are counted here.
    const events = (await reader.points('nixl.events')).map(({ attributes }) => attributes['event']);
    expect(events).toEqual(['agent_tx_bytes', 'agent_xfer_time', 'agent_err_not_found']);
    expect(log).toEqual([]);
  });
});

describe('sums of release 1.0, which are no counters', () => {
  const bytesOf = async (reader: ManualReader) => valuesOf(await reader.points('agent_tx_bytes'), 'agent_name');

  it('continue after an earlier agent of the same name', async () => {
    const reader = new ManualReader();
    instrumentation({ nixlRelease: '1.0' }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n] })];
    expect(await bytesOf(reader)).toEqual({ a: 5 });
    opener.last.agents = [];
    await bytesOf(reader);
    opener.last.agents = [agentSnapshot({ id: 2, agent: 'a' }, { 0: [2n] })];
    expect(await bytesOf(reader)).toEqual({ a: 7 });
  });

  it('lose nothing when one of several agents that are reported together ends', async () => {
    const reader = new ManualReader();
    instrumentation({ nixlRelease: '1.0', seriesLimit: 20 }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    const agents = Array.from({ length: 50 }, (_, id) => agentSnapshot({ id, agent: `a${id}` }, { 0: [1n] }));
    opener.last.agents = agents;
    const { other } = await bytesOf(reader);
    expect(other).toBeGreaterThan(1);
    opener.last.agents = agents.slice(0, 40);
    expect(await bytesOf(reader)).toMatchObject({ other });
  });

  it('stay totals for a reader of deltas', async () => {
    const source = new InMemorySource();
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n] })];
    const producer = producerOn(source, { nixlRelease: '1.0', temporality: 'delta' });
    for (let i = 0; i < 2; i++) {
      expect(metricIn(await producer.collect(), 'agent_tx_bytes')).toMatchObject({
        isMonotonic: false,
        aggregationTemporality: AggregationTemporality.CUMULATIVE,
        dataPoints: [{ value: 5 }],
      });
    }
  });
});

describe('errors of the configuration', () => {
  const customEvents = [{ event: 77, kind: 'error', status: 'xfer_stalled' }] as const;
  const stalled = (...values: bigint[]) => eventTally({ category: 7, type: 77 }, values);

  it('are exported at 0 beside those of NIXL from the start, and count', async () => {
    const source = new InMemorySource();
    const producer = producerOn(source, { customEvents });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 8: [1n] })];
    const statuses = async (name: string, label: string) => valuesOf(pointsIn(await producer.collect(), name), label);
    expect(Object.keys(await statuses('agent_errors_total', 'status'))).toHaveLength(13);
    expect(await statuses('agent_errors_total', 'status')).toMatchObject({ not_posted: 1, xfer_stalled: 0 });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 8: [1n] }, [stalled(1n, 1n)])];
    expect(await statuses('agent_errors_total', 'status')).toMatchObject({ not_posted: 1, xfer_stalled: 2 });
  });

  it('are in the errors of naming otel, and in deltas', async () => {
    const source = new InMemorySource();
    const producer = producerOn(source, { customEvents, naming: 'otel', temporality: 'delta' });
    const errors = async () => valuesOf(pointsIn(await producer.collect(), 'nixl.errors'), 'error.type');
    source.agents = [agentSnapshot({ id: 1, agent: 'a' })];
    expect(await errors()).toMatchObject({ xfer_stalled: 0 });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, [stalled(1n, 1n)])];
    expect(await errors()).toMatchObject({ xfer_stalled: 2 });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, [stalled(1n, 1n, 1n)])];
    expect(await errors()).toMatchObject({ xfer_stalled: 1 });
  });

  it('are in the instruments', async () => {
    const reader = new ManualReader();
    instrumentation({ customEvents }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' })];
    expect(valuesOf(await reader.points('agent_errors_total'), 'status')).toMatchObject({ xfer_stalled: 0 });
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, [stalled(1n)])];
    expect(valuesOf(await reader.points('agent_errors_total'), 'status')).toMatchObject({ xfer_stalled: 1 });
  });

  it.each([
    ['agent_err_*', true],
    ['agent_err_xfer_stalled', true],
    ['agent_tx_*', false],
    ['!agent_err_xfer_stalled', false],
  ])('are exported or not as enabledMetrics %s says', async (enabledMetrics, isExported) => {
    const reader = new ManualReader();
    instrumentation({ customEvents, enabledMetrics }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, [stalled(1n)])];
    const errors = valuesOf(await reader.points('agent_errors_total'), 'status');
    const events = (await reader.points('nixl.events')).map(({ attributes }) => attributes['event']);
    expect([errors['xfer_stalled'] === 1, events.includes('type_77')]).toEqual([isExported, isExported]);
    expect(log).toEqual([]);
  });

  it('are only in nixl.events if the release counts no errors, with a warning', async () => {
    const reader = new ManualReader();
    instrumentation({ customEvents, nixlRelease: '1.3' }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, [stalled(1n)])];
    expect(await reader.points('agent_errors_total')).toEqual([]);
    expect(await reader.points('nixl.events')).toMatchObject([{ attributes: { event: 'type_77' } }]);
    expect(log).toEqual([
      {
        level: 'warn',
        message:
          'customEvents: errors xfer_stalled are counted in nixl.events only: nixlRelease 1.3 has no agent_errors_total',
      },
    ]);
  });
});

describe('options of naming nixl', () => {
  it.each([
    [{ naming: 'otel', nixlRelease: '1.4' }, 'nixlRelease 1.4 has no effect in naming otel'],
    [{ naming: 'otel', nixlLabels: 'prometheus_mp' }, 'nixlLabels prometheus_mp has no effect in naming otel'],
    [{ builders: ['agents'], nixlRelease: '1.4' }, 'nixlRelease 1.4 has no effect without the builder nixl'],
    [
      { series: 'nixl', nixlRelease: '1.3', customEvents: [{ event: 77, kind: 'error', status: 'stalled' }] },
      'customEvents: errors stalled are counted nowhere: nixlRelease 1.3 has no agent_errors_total',
    ],
  ] as const)('%j is warned of', (config, message) => {
    instrumentation(config);
    expect(log).toEqual([{ level: 'warn', message }]);
  });

  it('are refused if they have no effect, or would give a series a label twice', () => {
    const error = { event: 77, kind: 'error', status: 'x' } as const;
    expect(() => instrumentation({ builders: ['custom'], customEvents: [error] })).toThrow(
      'customEvents needs the builder nixl, and builders has only custom',
    );
    const attributes = [{ name: 'local.rank', source: 'local_rank' }] as const;
    expect(() => instrumentation({ nixlLabels: 'prometheus_mp', attributes })).toThrow(
      'attributes[0].name is local.rank, but nixlLabels is prometheus_mp, which has the label local_rank: give the attribute another name',
    );
  });
});

describe('the instances of a process', () => {
  const born = (directory: string, ...names: string[]): void => {
    for (const name of names) {
      const made = path.join(directory, name);
      writeFileSync(made, '');
      untilYoungerThan(made);
    }
  };

  it('are numbered by the birth of the files, and no number is given twice', () => {
    const directory = temporaryDirectory();
    mkdirSync(path.join(directory, 'sub'));
    // Some file systems reuse the inode of the first file for the third: inodes alone do not determine the order.
    born(directory, 'first', 'c');
    rmSync(path.join(directory, 'first'));
    born(directory, 'sub/b', 'a', 'd');
    const agent = (id: number, name: string, pid: number | undefined = process.pid) => ({
      id,
      agent: name,
      directory,
      searched: true,
      ...(pid === undefined ? {} : { pid }),
    });
    const instances = new AgentInstances();
    const known = [agent(1, 'a'), agent(2, 'sub/b'), agent(3, 'c')];
    const numbers = (ids: number[]) => ids.map((id) => instances.of(id, process.pid));
    instances.number([...known, { id: 9, agent: 'x', directory, searched: true }]);
    expect(numbers([3, 2, 1])).toEqual([0, 1, 2]);

    instances.keep(new Set([1, 3]));
    instances.number([agent(1, 'a'), agent(3, 'c'), agent(4, 'd')]);
    expect(numbers([3, 1, 4])).toEqual([0, 2, 3]);

    // An agent that restarts in another process is the first one there.
    const parent = process.ppid;
    instances.number([agent(4, 'd', parent)]);
    expect([instances.of(4, parent), instances.of(4, process.pid)]).toEqual([0, undefined]);

    // A running process without agents keeps its counter; a process that has ended is forgotten.
    instances.keep(new Set());
    instances.number([agent(5, 'a')]);
    expect(numbers([5])).toEqual([4]);
    const gone = 2 ** 22 + 1; // beyond the largest number that Linux gives
    instances.number([agent(6, 'a', gone)]);
    expect(instances.of(6, gone)).toBe(0);
    instances.keep(new Set());
    instances.number([agent(7, 'a', gone)]);
    expect(instances.of(7, gone)).toBe(0);
  });

  it('wait while the process of an older ring may still be found', async () => {
    const directory = temporaryDirectory();
    born(directory, 'first', 'second', 'third');
    const seen = { directory, pid: process.pid };
    const source = new InMemorySource();
    source.agents = [
      agentSnapshot({ id: 1, agent: 'first', ...seen }),
      agentSnapshot({ id: 2, agent: 'second', directory, searched: false, exported: false }),
      agentSnapshot({ id: 3, agent: 'third', ...seen }),
    ];
    const producer = producerOn(source, { nixlLabels: 'prometheus_mp' });
    const labels = async () => {
      const points = pointsIn(await producer.collect(), 'agent_tx_bytes_total');
      return points.map(({ attributes: { pid, agent_instance: instance } }) => [pid, instance]);
    };
    const pid = String(process.pid);
    expect(await labels()).toEqual([
      [pid, '0'],
      ['', ''],
    ]);
    source.agents[1] = agentSnapshot({ id: 2, agent: 'second', ...seen });
    expect(await labels()).toEqual([
      [pid, '0'],
      [pid, '1'],
      [pid, '2'],
    ]);
  });
});
