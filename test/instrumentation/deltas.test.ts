import { AggregationTemporality, type DataPoint, type Histogram, InstrumentType } from '@opentelemetry/sdk-metrics';
import { beforeEach, describe, expect, it } from 'vitest';
import { hrTimeOf } from '../../src/instrumentation/producer/metric-data.js';
import { agentSnapshot, InMemorySource, START_MS } from './in-memory-source.js';
import { ManualReader, metricIn, pointsIn, producerOn, providerWith, valuesOf } from './readers.js';

let source: InMemorySource;
beforeEach(() => {
  source = new InMemorySource();
});

describe('deltas', () => {
  async function deltas(...sums: bigint[]): Promise<unknown[]> {
    const producer = producerOn(source, { temporality: 'delta' });
    const values: unknown[] = [];
    for (const sum of sums) {
      const agent = agentSnapshot({ id: 1, agent: 'a' }, { 0: [sum] });
      source.agents = [agent];
      values.push(pointsIn(await producer.collect(), 'agent_tx_bytes_total')[0]!.value);
    }
    return values;
  }

  it('are subtracted before they become doubles, beyond 2^53', async () => {
    expect(await deltas(2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 2n)).toEqual([2 ** 53, 1, 1]);
  });

  it('are subtracted before they become doubles, beyond 2^64', async () => {
    expect(await deltas(2n ** 64n - 1n, 2n ** 64n + 2n, 2n ** 70n)).toEqual([
      2 ** 64,
      3,
      Number(2n ** 70n - 2n ** 64n - 2n),
    ]);
  });

  it('of 0 are reported too', async () => {
    expect(await deltas(5n, 5n)).toEqual([5, 0]);
  });

  it('begin at the start of the agent, then at the previous collect', async () => {
    const producer = producerOn(source, { temporality: 'delta' });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' })];
    const [first] = pointsIn(await producer.collect(), 'agent_tx_bytes_total');
    expect(first).toMatchObject({ startTime: hrTimeOf(START_MS), endTime: hrTimeOf(source.takenMs) });
    const before = source.takenMs;
    source.takenMs += 5000;
    const result = await producer.collect();
    expect(metricIn(result, 'agent_tx_bytes_total').aggregationTemporality).toBe(AggregationTemporality.DELTA);
    expect(pointsIn(result, 'agent_tx_bytes_total')[0]).toMatchObject({
      startTime: hrTimeOf(before),
      endTime: hrTimeOf(source.takenMs),
    });
  });

  it('restart with a new id under the same name', async () => {
    const producer = producerOn(source, { temporality: 'delta' });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [100n] })];
    await producer.collect();
    source.agents = [agentSnapshot({ id: 2, agent: 'a', startTimeMs: START_MS + 11_000 }, { 0: [130n] })];
    const [point] = pointsIn(await producer.collect(), 'agent_tx_bytes_total');
    expect(point).toMatchObject({ value: 130, startTime: hrTimeOf(START_MS + 11_000) });
  });

  it('of histograms are taken per bucket', async () => {
    const producer = producerOn(source, { temporality: 'delta' });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [10n, 30n] })];
    await producer.collect();
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [10n, 30n, 30n, 90n] })];
    const [point] = pointsIn(await producer.collect(), 'agent_xfer_time_us') as DataPoint<Histogram>[];
    expect(point!.value).toMatchObject({ count: 2, sum: 120 });
    expect(point!.value.buckets.counts.slice(0, 4)).toEqual([0, 0, 1, 1]);
  });

  it('are right for event keys that appear later, and at another index', async () => {
    const producer = producerOn(source, { temporality: 'delta' });
    const key = (name: string, count: number) => ({
      name,
      category: 3,
      known: false,
      overflow: false,
      count,
      sum: BigInt(count),
      last: 1n,
    });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, [key('x', 5)])];
    await producer.collect();
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, {}, [key('y', 2), key('x', 9)])];
    expect(valuesOf(pointsIn(await producer.collect(), 'nixl.events'), 'event')).toEqual({ y: 2, x: 4 });
  });

  it('are never taken of gauges and up-down counters', async () => {
    const producer = producerOn(source, { temporality: 'delta' });
    source.agents = [agentSnapshot({ id: 1, agent: 'a', memoryInUse: 10n }, { 0: [5n] })];
    await producer.collect();
    const result = await producer.collect();
    expect(pointsIn(result, 'nixl.memory.usage')[0]!.value).toBe(10);
    expect(metricIn(result, 'nixl.memory.usage').aggregationTemporality).toBe(AggregationTemporality.CUMULATIVE);
    expect(pointsIn(result, 'agent_tx_last_bytes')[0]!.value).toBe(5);
  });

  it('are taken of the counters of the collector too', async () => {
    const producer = producerOn(source, { temporality: 'delta' });
    const ticks = async () => pointsIn(await producer.collect(), 'nixl.collector.ticks')[0]!.value;
    expect(await ticks()).toBe(500);
    source.collector.ticks = 530;
    expect(await ticks()).toBe(30);
  });

  it('are separate for each producer', async () => {
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n] })];
    const [one, two] = [producerOn(source, { temporality: 'delta' }), producerOn(source, { temporality: 'delta' })];
    await one.collect();
    expect(pointsIn(await two.collect(), 'agent_tx_bytes_total')[0]!.value).toBe(5);
    expect(pointsIn(await one.collect(), 'agent_tx_bytes_total')[0]!.value).toBe(0);
  });
});

describe('the temporality of a reader', () => {
  it('is asked for per instrument type', async () => {
    const asked: InstrumentType[] = [];
    const producer = producerOn(source, {
      temporality: (type) => {
        asked.push(type);
        return type === InstrumentType.HISTOGRAM ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
      },
    });
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n], 6: [1n] })];
    await producer.collect();
    const result = await producer.collect();
    expect(asked).toContain(InstrumentType.OBSERVABLE_COUNTER);
    expect(pointsIn(result, 'agent_tx_bytes_total')[0]!.value).toBe(5);
    expect((pointsIn(result, 'agent_xfer_time_us')[0] as DataPoint<Histogram>).value.count).toBe(0);
  });

  it('can be bound to a reader that is made later', async () => {
    const readers: ManualReader[] = [];
    const producer = producerOn(source, { temporality: (type) => readers[0]!.selectAggregationTemporality(type) });
    const reader = new ManualReader(AggregationTemporality.DELTA, [producer]);
    readers.push(reader);
    const provider = providerWith(reader);
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n] })];
    await reader.metrics();
    expect((await reader.points('agent_tx_bytes_total'))[0]!.value).toBe(0);
    await provider.shutdown();
  });
});
