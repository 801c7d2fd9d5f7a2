import { JsonMetricsSerializer } from '@opentelemetry/otlp-transformer';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NixlMetricProducer } from '../../src/index.js';
import type { CollectWants } from '../../src/instrumentation/feed/snapshot-feed.js';
import { COLLECT } from '../../src/instrumentation/producer/metric-producer.js';
import { hrTimeOf } from '../../src/instrumentation/producer/metric-data.js';
import { KeptSnapshot } from '../../src/shm-bridge/kept-snapshot.js';
import { agentSnapshot, InMemorySource, SourceOpener, START_MS } from './in-memory-source.js';
import { metricIn, metricsIn, pointsIn, producerOn, valuesOf } from './readers.js';

const opener = new SourceOpener();
vi.mock('../../src/shm-bridge/index.js', () => ({
  readAgentProcess: () => undefined,
  openSource: (options: never) => opener.openSource(options),
}));

let source: InMemorySource;
beforeEach(() => {
  source = new InMemorySource();
});

describe('a producer', () => {
  it('reports cumulative doubles from the start of the agent to the moment of the snapshot', async () => {
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n, 6n] })];
    const result = await producerOn(source).collect();
    expect(result.errors).toEqual([]);
    expect(result.resourceMetrics.scopeMetrics[0]!.scope).toMatchObject({ name: 'opentelemetry-instrumentation-nixl' });
    expect(metricIn(result, 'agent_tx_bytes_total')).toMatchObject({
      descriptor: { unit: '', valueType: 1 },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
      dataPoints: [{ value: 11, startTime: hrTimeOf(START_MS), endTime: hrTimeOf(source.takenMs) }],
    });
  });

  it('forgets released agents, and omits agents that are not exported', async () => {
    const producer = producerOn(source);
    source.agents = [
      agentSnapshot({ id: 1, agent: 'a' }),
      agentSnapshot({ id: 2, agent: 'b' }),
      agentSnapshot({ id: 3, agent: 'old-file', exported: false }),
    ];
    expect(Object.keys(valuesOf(pointsIn(await producer.collect(), 'nixl.agent.up'), 'agent_name'))).toEqual([
      'a',
      'b',
    ]);
    source.agents.shift();
    expect(Object.keys(valuesOf(pointsIn(await producer.collect(), 'nixl.agent.up'), 'agent_name'))).toEqual(['b']);
  });

  it('makes the metrics of a page while they are read, and then collects in the order of the snapshots', async () => {
    const producer = producerOn(source, { builders: ['time'] });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [1_000_000n] })];
    await producer.collect();
    source.takenMs += 1000;
    let release = (): void => {};
    const waiting = new Promise<void>((resolve) => (release = resolve));
    let isWaiting = false;
    const page = producer[COLLECT](false, async ({ metrics }) => {
      isWaiting = true;
      await waiting;
      return metrics.scopeMetrics.flatMap(({ metrics }) => [...metrics]);
    });
    await expect.poll(() => isWaiting).toBe(true);
    source.takenMs += 1000;
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [1_000_000n, 3_000_000n] })];
    const [later, last] = [producer.collect(), producer[COLLECT](true, () => Promise.resolve(source.wants.length))];
    await new Promise(setImmediate);
    expect(source.wants).toHaveLength(2);
    release();
    const busy = (metrics: readonly MetricData[]) =>
      metrics.find(({ descriptor }) => descriptor.name === 'nixl.time.busy')!.dataPoints[0]!.value;
    expect([busy(await page), busy(metricsIn(await later))]).toEqual([0, 3]);
    expect(await last).toBe(4);
  });

  it('collects for a page in slices, which the page continues, and otherwise at once', async () => {
    const producer = producerOn(source);
    await producer.collect();
    expect(source.wants[0]).not.toHaveProperty('slices');
    const slices = await producer[COLLECT](false, (collection) => Promise.resolve(collection.slices));
    expect(source.wants[1]).toHaveProperty('slices');
    expect((source.wants[1] as CollectWants).slices).toBe(slices);
  });

  it('makes further pages after one that could not be made', async () => {
    const producer = producerOn(source);
    const failure = new Error('not sent');
    await expect(producer[COLLECT](false, () => Promise.reject(failure))).rejects.toBe(failure);
    source.failure = new Error('no more descriptors');
    await expect(producer[COLLECT](false, () => Promise.resolve())).rejects.toBe(source.failure);
    source.failure = undefined;
    expect(await producer[COLLECT](false, ({ metrics }) => Promise.resolve(metrics.scopeMetrics.length))).toBe(1);
  });

  it.each([false, true])(
    'updates the snapshots of pages in place, also if builders get copies (%s)',
    async (hasBuilder) => {
      const producer = producerOn(source, { builders: hasBuilder ? ['nixl', 'comprehensive'] : ['nixl'] });
      const of = async (exponential: boolean) => {
        await producer[COLLECT](exponential, () => Promise.resolve());
        return source.wants.at(-1)!.kept;
      };
      const [text, protobuf, again] = [await of(false), await of(true), await of(false)];
      expect([text, protobuf, again]).toEqual(Array(3).fill(expect.any(KeptSnapshot)));
      expect(again).toBe(text);
      expect(protobuf).not.toBe(text);
    },
  );

  it('omits metrics without points', async () => {
    const names = metricsIn(await producerOn(source).collect()).map(({ descriptor }) => descriptor.name);
    expect(names.filter((name) => !name.startsWith('nixl.collector.'))).toEqual([]);
  });

  it('exports the histograms unchanged, without min and max', async () => {
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [10n, 11n, 99_999_999n] })];
    const { value } = pointsIn(await producerOn(source).collect(), 'agent_xfer_time_us')[0] as DataPoint<Histogram>;
    expect(value).toMatchObject({ count: 3, sum: 100_000_020 });
    expect(value.buckets.counts).toEqual([1, 1, ...new Array<number>(16).fill(0), 1]);
    expect(value).not.toHaveProperty('min');
  });

  it('reports seconds in naming otel', async () => {
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [1_500_000n] })];
    const result = await producerOn(source, { naming: 'otel' }).collect();
    const [point] = pointsIn(result, 'nixl.transfer.duration') as DataPoint<Histogram>[];
    expect(point!.value).toMatchObject({ count: 1, sum: 1.5 });
    expect(point!.value.buckets.boundaries.slice(0, 3)).toEqual([1e-5, 2.5e-5, 5e-5]);
    expect(point!.attributes).toEqual({ 'nixl.agent.name': 'a' });
    expect(valuesOf(pointsIn(result, 'nixl.errors'), 'error.type')).toMatchObject({ canceled: 0, unknown: 0 });
  });

  it('names the directory of agents that share a name, and of no others', async () => {
    const producer = producerOn(source);
    source.agents = [
      agentSnapshot({ id: 1, agent: 'a', directory: '/one' }),
      agentSnapshot({ id: 2, agent: 'a', directory: '/two' }),
      agentSnapshot({ id: 3, agent: 'b', directory: '/two' }),
    ];
    const directories = async () =>
      pointsIn(await producer.collect(), 'nixl.agent.up').map(({ attributes }) => attributes.ring_directory);
    expect(await directories()).toEqual(['/one', '/two', undefined]);
    source.agents.pop();
    source.agents.pop();
    expect(await directories()).toEqual([undefined]);
  });

  it('counts agents by life and skipped files by state', async () => {
    source.agents = [
      agentSnapshot({ id: 1, agent: 'a', life: 'dead' }),
      agentSnapshot({ id: 2, agent: 'b', exported: false, life: 'unknown' }),
    ];
    source.problems = [{ path: '/d/x', state: 'busy', reason: 'locked' }];
    source.problemCount = 3;
    const result = await producerOn(source).collect();
    expect(valuesOf(pointsIn(result, 'nixl.collector.agents'), 'life')).toEqual({ alive: 0, dead: 1, unknown: 1 });
    expect(valuesOf(pointsIn(result, 'nixl.collector.problems'), 'state')).toMatchObject({
      busy: 1,
      corrupt: 0,
      unlisted: 2,
    });
    expect(pointsIn(result, 'nixl.collector.lag.max')[0]!.value).toBe(0.045);
  });
});

describe('a producer that cannot read', () => {
  it('resolves with the error and without metrics', async () => {
    source.failure = new Error('no more descriptors');
    const result = await producerOn(source).collect();
    expect(result.errors).toEqual([source.failure]);
    expect(result.resourceMetrics.scopeMetrics).toEqual([]);
  });

  it('resolves also when the temporality selector of the user throws', async () => {
    const temporality = () => {
      throw new TypeError('mine');
    };
    expect((await producerOn(source, { temporality }).collect()).errors).toHaveLength(1);
  });

  it('loses nothing of a delta over a failed collect', async () => {
    const producer = producerOn(source, { temporality: 'delta' });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n] })];
    await producer.collect();
    source.failure = new Error('once');
    await producer.collect();
    source.failure = undefined;
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n, 7n] })];
    expect(pointsIn(await producer.collect(), 'agent_tx_bytes_total')[0]!.value).toBe(7);
  });
});

describe('a producer with a separate source', () => {
  it('opens it with its options, drains it at each collect and closes it', async () => {
    const producer = new NixlMetricProducer({ directories: '/rings', drainIntervalMs: 10, durationBoundsUs: [1, 2] });
    expect(opener.options.at(-1)).toMatchObject({
      directories: ['/rings'],
      drainIntervalMs: 10,
      tally: { durationBoundsUs: [1, 2] },
    });
    await producer.collect();
    expect(opener.last.drains).toBe(1);
    await producer.shutdown();
    await producer.shutdown();
    expect(opener.last.closed).toBe(true);
    expect(metricsIn(await producer.collect())).toEqual([]);
  });

  it('throws if no directory of rings is set, and names the option and the variable', () => {
    vi.stubEnv('NIXL_TELEMETRY_DIR', '');
    expect(() => new NixlMetricProducer()).toThrow(/directories.*NIXL_TELEMETRY_DIR/);
    vi.unstubAllEnvs();
  });
});

describe('OTLP', () => {
  it('carries sums as doubles and histograms with their bounds', async () => {
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [2n ** 64n - 1n, 1n], 6: [15n] })];
    const { resourceMetrics } = await producerOn(source).collect();
    const json = JSON.parse(Buffer.from(JsonMetricsSerializer.serializeRequest(resourceMetrics)!).toString()) as {
      resourceMetrics: { scopeMetrics: { metrics: Record<string, never>[] }[] }[];
    };
    const metrics = json.resourceMetrics[0]!.scopeMetrics[0]!.metrics;
    const find = (name: string) => metrics.find((metric) => metric.name === name)!;
    expect(find('agent_tx_bytes_total')).toMatchObject({
      sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints: [{ asDouble: 2 ** 64 }] },
    });
    expect(find('agent_xfer_time_us')).toMatchObject({
      histogram: { dataPoints: [{ count: 1, sum: 15, bucketCounts: [0, 1, ...new Array<number>(17).fill(0)] }] },
    });
  });
});
