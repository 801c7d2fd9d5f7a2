/** Readers with a joined producer: every event once over disable(), enable(), setConfig(), and further producers. */
import {
  AggregationTemporality,
  AggregationType,
  type DataPoint,
  type ExponentialHistogram,
  type Histogram,
  InstrumentType,
} from '@opentelemetry/sdk-metrics';
import { describe, expect, it, vi } from 'vitest';
import type { NixlInstrumentation } from '../../src/index.js';
import { RING_REPORTER, type RingReporter } from '../../src/instrumentation/joining/ring-reporter.js';
import { hrTimeOf } from '../../src/instrumentation/producer/metric-data.js';
import type { AgentSnapshot } from '../../src/shm-bridge/types.js';
import { instrumentation, log, opener } from './harness.js';
import { agentSnapshot, histogramOf, START_MS } from './in-memory-source.js';
import { ManualReader, producerOn, providerWith } from './readers.js';

const BYTES = 'agent_tx_bytes_total';
const { CUMULATIVE, DELTA } = AggregationTemporality;
const { DEFAULT } = AggregationType;

/** Makes an agent that sent this many bytes and as many transfers of 10 us. */
function sent(id: number, count: number, about: Partial<AgentSnapshot> = {}): AgentSnapshot {
  const events = Array<bigint>(count).fill(10n);
  return agentSnapshot({ id, agent: 'a', ...about }, { 0: Array<bigint>(count).fill(1n), 6: events });
}

/** Returns the number of values in all buckets. */
function countOf(value: Histogram | ExponentialHistogram): number {
  const counts = 'buckets' in value ? value.buckets.counts : [value.zeroCount, ...value.positive.bucketCounts];
  const count = counts.reduce((sum, inBucket) => sum + inBucket, 0);
  expect(value.count).toBe(count);
  return count;
}

/** Returns bytes and the count of transfer times, per agent. */
async function seen(reader: ManualReader): Promise<number[][]> {
  const all = await reader.metrics();
  const points = (name: string) =>
    (all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []) as DataPoint<unknown>[];
  const times = points('agent_xfer_time_us');
  return points(BYTES).map(({ value }, i) => [
    value as number,
    countOf(times[i]!.value as Histogram | ExponentialHistogram),
  ]);
}

function started(histograms: AggregationType = DEFAULT): {
  one: NixlInstrumentation;
  cumulative: ManualReader;
  delta: ManualReader;
} {
  const [cumulative, delta] = [new ManualReader(CUMULATIVE), new ManualReader(DELTA)];
  for (const reader of [cumulative, delta]) {
    reader.selectAggregation = (type) => ({ type: type === InstrumentType.HISTOGRAM ? histograms : DEFAULT });
  }
  const one = instrumentation();
  one.setMeterProvider(providerWith(cumulative, delta));
  return { one, cumulative, delta };
}

describe('totals continue', () => {
  let configs = 0;
  const SWITCHES: [string, (one: NixlInstrumentation) => void][] = [
    ['disable() and enable()', (one) => (one.disable(), one.enable())],
    ['setConfig()', (one) => one.setConfig({ ...one.getConfig(), deadTtlMs: 1000 + ++configs })],
    [
      'setConfig() with other bounds',
      (one) => one.setConfig({ ...one.getConfig(), durationBoundsUs: [5, 50 + ++configs] }),
    ],
  ];

  const EVERY_KIND = SWITCHES.flatMap(([name, again]) => [
    [name, again, DEFAULT] as const,
    [`${name} in exponential histograms`, again, AggregationType.EXPONENTIAL_HISTOGRAM] as const,
  ]);

  it.each(EVERY_KIND)('over %s, with events that were drained and not reported', async (_, again, histograms) => {
    const { one, cumulative, delta } = started(histograms);
    opener.last.agents = [sent(1, 5)];
    expect([await seen(cumulative), await seen(delta)]).toEqual([[[5, 5]], [[5, 5]]]);
    for (const round of [1, 2, 3]) {
      opener.last.agents = [sent(2 * round - 1, round === 1 ? 7 : 3)]; // two more than were reported, or three
      again(one);
      opener.last.agents = [sent(2 * round, 4)];
      again(one); // twice without a collect
      opener.last.agents = [sent(2 * round + 1, 0)];
      const gained = (round === 1 ? 2 : 3) + 4;
      const total = [0, 11, 18, 25][round]!;
      expect([await seen(cumulative), await seen(delta)]).toEqual([[[total, total]], [[gained, gained]]]);
      expect(await seen(delta)).toEqual([[0, 0]]);
    }
  });

  it('since the time at which they were 0 first', async () => {
    const { one, cumulative } = started();
    opener.last.agents = [sent(1, 5, { startTimeMs: START_MS })];
    await seen(cumulative);
    one.disable();
    opener.agents = [sent(2, 4, { startTimeMs: START_MS + 5000 })];
    one.enable();
    const bytes = (await cumulative.metrics()).find(({ descriptor }) => descriptor.name === BYTES)!;
    expect(bytes.dataPoints).toMatchObject([{ value: 9, startTime: hrTimeOf(START_MS) }]);
  });

  it('with an agent that is missing afterwards: exports its last values once', async () => {
    const { one, cumulative, delta } = started();
    opener.last.agents = [sent(1, 5)];
    await seen(delta);
    opener.last.agents = [sent(1, 8)];
    one.disable();
    opener.agents = [];
    one.enable();
    expect([await seen(cumulative), await seen(delta)]).toEqual([[[8, 8]], [[3, 3]]]);
    expect([await seen(cumulative), await seen(delta)]).toEqual([[], []]);
    opener.last.agents = [sent(9, 2)]; // begins at 0, like a released ring
    expect([await seen(cumulative), await seen(delta)]).toEqual([[[2, 2]], [[2, 2]]]);
  });

  it('with an idle agent: its new tally has no event yet, and its process is not visible yet', async () => {
    const { one, cumulative, delta } = started();
    opener.last.agents = [sent(1, 5)];
    await seen(delta);
    opener.last.agents = [sent(1, 8)];
    for (const id of [9, 10]) {
      one.disable();
      opener.agents = [sent(id, 0, { exported: false })];
      one.enable();
      expect([await seen(cumulative), await seen(delta)]).toEqual([[[8, 8]], [[id === 9 ? 3 : 0, id === 9 ? 3 : 0]]]);
      expect([await seen(cumulative), await seen(delta)]).toEqual([[[8, 8]], [[0, 0]]]);
    }
    opener.last.agents = [sent(10, 2)];
    expect([await seen(cumulative), await seen(delta)]).toEqual([[[10, 10]], [[2, 2]]]);
    opener.last.agents = []; // the ring turned out to be a dead agent's
    expect([await seen(cumulative), await seen(delta)]).toEqual([[], []]);
  });

  it('but not from a released agent to a new agent of its name', async () => {
    const { one, cumulative, delta } = started();
    opener.last.agents = [sent(1, 5)];
    await seen(delta);
    one.disable();
    one.enable();
    opener.last.agents = [sent(2, 1)];
    expect([await seen(cumulative), await seen(delta)]).toEqual([[[6, 6]], [[1, 1]]]);
    opener.last.agents = [];
    expect([await seen(cumulative), await seen(delta)]).toEqual([[], []]);
    opener.last.agents = [sent(3, 2)];
    expect([await seen(cumulative), await seen(delta)]).toEqual([[[2, 2]], [[2, 2]]]);
  });

  it('with another MeterProvider: what the first one reported in deltas is not reported again', async () => {
    const { one, delta } = started();
    opener.last.agents = [sent(1, 5)];
    expect(await seen(delta)).toEqual([[5, 5]]);
    opener.last.agents = [sent(1, 8)];
    const [cumulative, later] = [new ManualReader(CUMULATIVE), new ManualReader(DELTA)];
    one.setMeterProvider(providerWith(cumulative, later));
    expect([await seen(cumulative), await seen(later), await seen(delta)]).toEqual([[[8, 8]], [[3, 3]], []]);
  });

  it.each([
    ['another MeterProvider', 1],
    ['disable() and enable()', 0],
  ])('with %s while a collect waits for the drain: each event is reported once', async (change, next) => {
    const { one, delta } = started();
    opener.last.agents = [sent(1, 5)];
    await seen(delta);
    opener.agents = opener.last.agents = [sent(1, 8)];
    const waiting = seen(delta);
    const readers = [delta, new ManualReader(DELTA)];
    if (next === 1) one.setMeterProvider(providerWith(new ManualReader(), readers[1]!));
    else {
      one.disable();
      one.enable();
    }
    const both = [...(await waiting), ...(await seen(readers[next]!))];
    expect([change, both]).toEqual([change, [[3, 3]]]);
  });

  it('in buckets: the same ones, or, with other bounds, those that contain the upper bounds of the old ones', async () => {
    const { one, cumulative, delta } = started();
    opener.last.agents = [sent(1, 5)];
    for (const reader of [cumulative, delta]) await seen(reader);
    one.setConfig({ ...one.getConfig(), durationBoundsUs: [5, 50] });
    const agent = sent(2, 0);
    const times6 = { ...agent.events[6]!, count: 1, sum: 3n, histogram: { ...histogramOf([5, 50], [3]), sum: 3n } };
    opener.last.agents = [{ ...agent, events: agent.events.with(6, times6) }];
    const times = async (reader: ManualReader) => {
      const [point] = (await reader.points('agent_xfer_time_us')) as DataPoint<Histogram>[];
      return point!.value;
    };
    const boundaries = [5, 50];
    expect(await times(cumulative)).toEqual({ buckets: { boundaries, counts: [1, 5, 0] }, sum: 53, count: 6 });
    expect(await times(delta)).toEqual({ buckets: { boundaries, counts: [1, 0, 0] }, sum: 3, count: 1 });
  });
});

describe('a reader that has another producer of this package', () => {
  /** Returns the names of metrics that the reader gets twice. */
  async function twice(reader: ManualReader): Promise<string[]> {
    const names = (await reader.metrics()).map(({ descriptor }) => descriptor.name);
    return names.filter((name, i) => names.indexOf(name) !== i);
  }

  it('gets each series once, and one warning that names both', async () => {
    opener.agents = [sent(1, 5)];
    const [first, second] = [instrumentation(), instrumentation()];
    const reader = new ManualReader(CUMULATIVE, [first.metricProducer()]);
    const provider = providerWith(reader);
    first.setMeterProvider(provider);
    second.setMeterProvider(provider);
    for (let i = 0; i < 2; i++) expect([await twice(reader), await seen(reader)]).toEqual([[], [[5, 5]]]);
    expect(log.map(({ message }) => message)).toEqual([
      'ManualReader has two sources of NIXL metrics: a producer of NixlInstrumentation.metricProducer() on /rings, and ' +
        'NixlInstrumentation on /rings; only the first exports the rings that both read: remove one of the two',
    ]);
  });

  it.each([CUMULATIVE, DELTA])('gets rings from the other if one ends, temporality %s', async (temporality) => {
    const reader = new ManualReader(temporality);
    const provider = providerWith(reader);
    const [first, second] = [instrumentation(), instrumentation()];
    first.setMeterProvider(provider);
    second.setMeterProvider(provider);
    // The two sources of the native part share tallies.
    const rings = (agents: AgentSnapshot[]) => opener.open.forEach((source) => (source.agents = agents));
    rings([sent(1, 5)]);
    expect([await seen(reader), await twice(reader)]).toEqual([[[5, 5]], []]);
    rings([sent(1, 7)]);
    const shown = (total: number, gained: number) => (temporality === DELTA ? [[gained, gained]] : [[total, total]]);
    expect(await seen(reader)).toEqual(shown(7, 2));
    rings([sent(1, 8)]);
    first.disable();
    expect(await seen(reader)).toEqual(shown(8, 1));
    rings([sent(1, 9)]);
    first.enable();
    rings([sent(1, 11)]);
    expect([await seen(reader), await twice(reader)]).toEqual([shown(11, 3), []]);
    rings([sent(1, 12)]);
    second.disable();
    expect([await seen(reader), await twice(reader)]).toEqual([shown(12, 1), []]);
    const messages = new Set(log.map(({ message }) => message)); // one from each instrumentation, because each was the second
    expect([...messages].join()).toBe(
      'ManualReader has two sources of NIXL metrics: NixlInstrumentation on /rings, and NixlInstrumentation on /rings; ' +
        'only the first exports the rings that both read: remove one of the two',
    );
  });

  it('gets its rings from a new or returned producer that was not collected before the other one ended', async () => {
    const reader = new ManualReader(DELTA);
    const provider = providerWith(reader);
    const rings = (count: number) => opener.open.forEach((source) => (source.agents = [sent(1, count)]));
    const [first, second] = [instrumentation(), instrumentation()];
    const gained: number[][][] = [];
    const collect = async (count: number) => (rings(count), gained.push(await seen(reader)));
    first.setMeterProvider(provider);
    await collect(5);
    second.setMeterProvider(provider);
    rings(6);
    first.disable();
    await collect(7); // second
    first.enable();
    second.disable();
    await collect(8); // first
    second.enable();
    first.disable();
    first.enable();
    await collect(10); // second
    second.disable();
    second.enable();
    await collect(13); // first
    first.disable();
    first.enable();
    second.disable();
    await collect(17); // first again
    expect(gained).toEqual([5, 2, 1, 2, 3, 4].map((count) => [[count, count]]));
  });

  it('gets a ring from one producer even if the other one, which is collected first, already omits it', async () => {
    const own = opener.openSource({ directories: ['/rings'] } as never);
    own.agents = [sent(1, 5)];
    const producer = producerOn(own, { temporality: 'delta' });
    const reader = new ManualReader(DELTA, [producer]);
    const provider = providerWith(reader);
    const [first, second] = [instrumentation(), instrumentation()];
    first.setMeterProvider(provider);
    second.setMeterProvider(provider);
    const slow = opener.last;
    const rings = (count: number) => opener.open.forEach((source) => (source.agents = [sent(1, count)]));
    rings(5);
    expect(await seen(reader)).toEqual([[5, 5]]);
    producer.close();
    own.close();
    rings(7);
    expect(await seen(reader)).toEqual([[2, 2]]);
    first.disable();
    first.enable();
    rings(8);
    slow.drain = async () => {
      for (let i = 0; i < 100; i++) await Promise.resolve();
    };
    expect(await seen(reader)).toEqual([[1, 1]]);
  });

  it('gets from the instrumentation the rings that the other one does not read', async () => {
    const own = opener.openSource({ directories: ['/own'], tally: opener.options[0]?.tally } as never);
    own.agents = [sent(1, 5, { path: '/both/a' })];
    const producer = producerOn(own);
    const reader = new ManualReader(CUMULATIVE, [producer]);
    instrumentation().setMeterProvider(providerWith(reader));
    opener.last.agents = [sent(1, 5, { path: '/both/a' }), sent(2, 3, { agent: 'b', path: '/rings/b' })];
    const collected = await reader.metrics();
    const bytes = collected.find(({ descriptor }) => descriptor.name === BYTES)!.dataPoints as DataPoint<number>[];
    const more = collected.filter(({ descriptor }) => descriptor.name === BYTES)[1]!.dataPoints as DataPoint<number>[];
    expect([...bytes, ...more].map(({ value, attributes }) => [attributes['agent_name'], value])).toEqual([
      ['a', 5],
      ['b', 3],
    ]);
    expect(collected.filter(({ descriptor }) => descriptor.name === 'nixl.collector.ticks')).toHaveLength(1);
    producer.close();
    own.close();
    expect(await seen(reader)).toEqual([
      [5, 5],
      [3, 3],
    ]);
    expect(log).toEqual([
      {
        level: 'warn',
        message: expect.stringMatching(/NixlMetricProducer.*and NixlInstrumentation on \/rings/) as string,
      },
    ]);
  });

  it('recognises a producer of another copy of the package by its symbol', async () => {
    const reporter: RingReporter = {
      name: 'another copy',
      places: '/rings',
      joined: false,
      copy: {},
      rings: () => new Set(['/dev/shm/nixl/a']),
      reported: () => new Map(),
    };
    const foreign = {
      collect: () => Promise.resolve({ resourceMetrics: { resource: {} as never, scopeMetrics: [] }, errors: [] }),
      [Symbol.for('opentelemetry-instrumentation-nixl.ring-reporter')]: reporter,
    };
    expect(RING_REPORTER).toBe(Symbol.for('opentelemetry-instrumentation-nixl.ring-reporter'));
    const reader = new ManualReader(CUMULATIVE, [foreign]);
    opener.agents = [sent(1, 5), sent(2, 3, { agent: 'b' })];
    instrumentation().setMeterProvider(providerWith(reader));
    expect(await seen(reader)).toEqual([[3, 3]]);
    expect(log).toHaveLength(1);
  });

  it('gets a ring at once when the other producer is closed, and then also the metrics of the collector', async () => {
    const own = opener.openSource({ directories: ['/rings'] } as never);
    own.agents = [sent(1, 5)];
    const producer = producerOn(own);
    const reader = new ManualReader(DELTA, [producer]);
    instrumentation().setMeterProvider(providerWith(reader));
    opener.last.agents = [sent(1, 6)]; // a moment later
    expect(await reader.points('nixl.collector.ticks')).toHaveLength(1);
    producer.close();
    own.close();
    opener.last.agents = [sent(1, 8)];
    expect(await seen(reader)).toEqual([[3, 3]]);
    expect(await reader.points('nixl.collector.ticks')).toHaveLength(1);
  });
});

it('counts of builders continue over disable(), enable() and setConfig(), for each reader in its own temporality', async () => {
  const gains: number[] = [];
  const builder = {
    name: 'own',
    counter: undefined as { add(n: number): void } | undefined,
    create(meter: { createCounter(name: string): { add(n: number): void } }) {
      this.counter = meter.createCounter('own.events');
    },
    observe(all: readonly { count: number }[]) {
      for (const { count } of all) {
        gains.push(count);
        this.counter!.add(count);
      }
    },
  };
  const [cumulative, delta] = [new ManualReader(CUMULATIVE), new ManualReader(DELTA)];
  const one = instrumentation({ builders: ['nixl', builder] });
  one.setMeterProvider(providerWith(cumulative, delta));
  const own = async (reader: ManualReader) => (await reader.points('own.events')).map(({ value }) => value);
  opener.last.agents = [sent(1, 5)];
  expect([await own(cumulative), await own(delta)]).toEqual([[10], [10]]);
  opener.last.agents = [sent(1, 6)];
  one.disable();
  opener.agents = [sent(2, 1)];
  one.enable();
  expect([await own(cumulative), await own(delta)]).toEqual([[14], [4]]);
  opener.last.agents = [sent(2, 2)];
  one.setConfig({ ...one.getConfig(), deadTtlMs: 1000 });
  opener.last.agents = [];
  expect([await own(cumulative), await own(delta)]).toEqual([[16], [2]]);
  one.processor.process({ action: 'train', success: true });
  vi.advanceTimersByTime(1000);
});
