/** Metrics of time by size, from real rings. */
import path from 'node:path';
import type { DataPoint, ExponentialHistogram, Histogram } from '@opentelemetry/sdk-metrics';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { NixlInstrumentation } from '../../src/instrumentation/instrumentation.js';
import { NixlMetricProducer } from '../../src/instrumentation/producer/metric-producer.js';
import type { NixlMetricProducerOptions } from '../../src/settings/options.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { temporaryDirectory } from '../support/live.js';
import { pushAll } from '../support/rings.js';
import { until } from '../support/until.js';
import { ManualReader, providerWith } from './readers.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const [SENT, RECEIVED] = [0, 1];
/** Events of a transfer. */
const transfer = (direction: number, bytes: number, us: number, postUs: number) => [
  { type: 7, value: BigInt(postUs) },
  { type: 6, value: BigInt(us) },
  { type: direction, value: BigInt(bytes) },
  { type: direction + 2, value: 1n },
];

function begun(options: NixlMetricProducerOptions) {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 4096 });
  const producer = new NixlMetricProducer({ directories: directory, ...options });
  onTestFinished(() => {
    producer.close();
    writer.close();
  });
  /** Values by name and labels, of one kind. */
  const values = async <Value>(prefix: string): Promise<Record<string, Value>> => {
    const { resourceMetrics, errors } = await producer.collect();
    expect(errors).toEqual([]);
    const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    const found = metrics.filter(({ descriptor }) => descriptor.name.startsWith(prefix));
    return Object.fromEntries(
      found.flatMap(({ descriptor, dataPoints }) =>
        (dataPoints as DataPoint<Value>[]).map(({ attributes: { direction, up_to_bytes: bound }, value }) => {
          const labels = [direction, bound].filter((label) => label !== undefined).join(' ');
          return [`${descriptor.name.slice(prefix.length)} ${labels}`, value];
        }),
      ),
    );
  };
  return { writer, producer, values };
}

test('each class that moved has a histogram of durations and one of posts', async () => {
  const { writer, values } = begun({ series: 'full' });
  pushAll(writer, [
    ...transfer(SENT, 1024, 1, 0),
    ...transfer(SENT, 1025, 4, 2),
    ...transfer(SENT, 2048, 5, 3),
    ...transfer(RECEIVED, 2 ** 30 + 1, 100_000_000, 16),
  ]);
  const found = await values<Histogram>('nixl.transfer.size_class.');
  expect(Object.keys(found).sort()).toEqual([
    'duration receive +Inf',
    'duration transmit 1024',
    'duration transmit 2048',
    'post.duration receive +Inf',
    'post.duration transmit 1024',
    'post.duration transmit 2048',
  ]);
  const bounds = found['duration transmit 2048']!.buckets.boundaries;
  expect(bounds).toEqual(Array.from({ length: 14 }, (_, i) => 4 ** i / 1e6));
  const countsOf = (key: string) =>
    found[key]!.buckets.counts.flatMap((count, i) => (count === 0 ? [] : [[bounds[i], count]]));
  expect(found['duration transmit 2048']).toMatchObject({ count: 2, sum: 9e-6 });
  expect(countsOf('duration transmit 2048')).toEqual([
    [4e-6, 1],
    [16e-6, 1],
  ]);
  expect(countsOf('duration transmit 1024')).toEqual([[1e-6, 1]]);
  expect(countsOf('duration receive +Inf')).toEqual([[undefined, 1]]);
  expect(countsOf('post.duration transmit 1024')).toEqual([[1e-6, 1]]);
  expect(countsOf('post.duration receive +Inf')).toEqual([[16e-6, 1]]);
});

test('deltas have what came since, and exponential histograms the same values', async () => {
  const { writer, values } = begun({ series: 'full', temporality: 'delta', histograms: 'exponential' });
  const key = 'duration transmit 1024';
  for (const times of [[10, 20, 30], [40], []]) {
    pushAll(
      writer,
      times.flatMap((us) => transfer(SENT, 100, us, 5)),
    );
    const found = await values<ExponentialHistogram>('nixl.transfer.size_class.');
    expect(found[key]).toMatchObject({ count: times.length });
    expect(found[key]!.sum).toBeCloseTo(times.reduce((sum, us) => sum + us, 0) / 1e6, 12);
  }
});

test('the default has the base time, the rate and the share of posting of each direction that moves', async () => {
  const { writer, values } = begun({});
  const models = () => values<number>('nixl.transfer.');
  const names = ['base.time', 'asymptotic.rate', 'post.share'];
  const told = (found: Record<string, number>) =>
    Object.keys(found).filter((key) => names.some((name) => key.startsWith(name)));
  expect(told(await models())).toEqual([]);
  expect(Object.keys(await models()).filter((key) => key.startsWith('size_class'))).toEqual([]);
  // 100 us and 1 ns for each byte: 1 GB/s.
  for (const bytes of [4096, 65_536, 1_048_576, 8_388_608]) {
    for (let i = 0; i < 30; i++) pushAll(writer, transfer(SENT, bytes, 100 + Math.round(bytes / 1000), 50));
  }
  for (let i = 0; i < 30; i++) pushAll(writer, transfer(RECEIVED, 4096, 100, 50));
  let found: Record<string, number> = {};
  await until(async () => {
    vi.advanceTimersByTime(20_000);
    found = await models();
    return told(found).length > 0;
  });
  expect(told(found).sort()).toEqual([
    'asymptotic.rate transmit',
    'base.time transmit',
    'post.share receive',
    'post.share transmit',
  ]);
  expect(found['base.time transmit']! / 100e-6).toBeCloseTo(1, 1);
  expect(found['asymptotic.rate transmit']! / 1e9).toBeCloseTo(1, 1);
  expect(found['post.share receive']).toBeCloseTo(0.5, 6);
});

test('a service gets the classes and lines of its agents by a function', async () => {
  const { writer, producer } = begun({});
  for (const bytes of [4096, 65_536, 1_048_576]) {
    for (let i = 0; i < 30; i++) pushAll(writer, transfer(RECEIVED, bytes, 100 + Math.round(bytes / 1000), 50));
  }
  const [agent, ...others] = await producer.timeBySize();
  expect(others).toEqual([]);
  expect(agent).toMatchObject({ agent: 'agent', tx: { classes: [] }, rx: { model: { kind: 'line' } } });
  expect(agent!.rx.classes.map(({ upToBytes, transfers }) => [upToBytes, transfers])).toEqual([
    [4096, 30],
    [65_536, 30],
    [1_048_576, 30],
  ]);
  producer.close();
  expect(await producer.timeBySize()).toEqual([]);
});

test('an instrumentation in a reader of the SDK has them, too, and sums over the sources that it had', async () => {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 4096 });
  const reader = new ManualReader();
  const instrumentation = new NixlInstrumentation({ directories: directory, series: 'full' });
  instrumentation.setMeterProvider(providerWith(reader));
  onTestFinished(() => {
    instrumentation.disable();
    writer.close();
  });
  const counts = async () => {
    const points = await reader.points('nixl.transfer.size_class.duration');
    return points.map(({ attributes, value }) => [attributes['up_to_bytes'], (value as Histogram).count]);
  };
  pushAll(writer, [...transfer(SENT, 1024, 10, 5), ...transfer(SENT, 4096, 10, 5)]);
  await expect.poll(counts).toEqual([
    ['1024', 1],
    ['4096', 1],
  ]);
  instrumentation.disable();
  instrumentation.enable();
  pushAll(writer, transfer(SENT, 4096, 20, 5));
  await expect.poll(counts).toEqual([
    ['1024', 1],
    ['4096', 2],
  ]);
  expect(await instrumentation.timeBySize()).toHaveLength(1);
});

test('an instrumentation refuses a listener that is no function', () => {
  const instrumentation = new NixlInstrumentation({ directories: temporaryDirectory() });
  onTestFinished(() => instrumentation.disable());
  expect(() => instrumentation.onSlowness({} as never)).toThrow('the listener is {}; allowed: a function');
});
