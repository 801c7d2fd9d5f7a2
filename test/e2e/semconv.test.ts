/** Compares the constants of names with the exports from real rings. */
import { dirname, join } from 'node:path';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { expect, it, onTestFinished, vi } from 'vitest';
import { NixlInstrumentation, NixlMetricProducer } from '../../src/index.js';
import { BUILDER_NAMES } from '../../src/settings/metric-builder.js';
import { SELF_METRICS } from '../../src/instrumentation/self-metrics.js';
import { SERVE_METRICS } from '../../src/instrumentation/serve-metrics.js';
import { EVENTS, INFO_LABELS, metricsOf, NAMINGS, PRESETS, withLabels } from '../../src/mapping/index.js';
import * as semconv from '../../src/mapping/semconv.js';
import { RingWriter } from '../../src/rings.js';
import { ManualReader, metricsIn, ofAnotherMake, providerWith } from '../instrumentation/readers.js';
import { temporaryDirectory } from '../support/live.js';

/** Returns the values of the constants with this prefix. The name of each is spelled as its value. */
function constants(prefix: 'METRIC_' | 'ATTR_'): string[] {
  const entries = Object.entries(semconv).filter(([name]) => name.startsWith(prefix));
  for (const [name, value] of entries) expect(name).toBe(prefix + value.replaceAll('.', '_').toUpperCase());
  return entries.map(([, value]) => value).sort();
}

/** Makes two directories with agents of one name. Their events have all types, and two types that the table lacks. */
function agentsInDirectories() {
  const writers = [temporaryDirectory(), temporaryDirectory()].map((directory) => {
    const writer = new RingWriter(join(directory, 'agent'), { wireVersion: 1, capacity: 1024 });
    for (const { event, category } of EVENTS) writer.push({ name: event, category, value: 1 });
    writer.push({ name: 'agent_xfer_time', category: 5, value: 1 }); // ends the transfer that was posted last
    writer.push({ name: 'backend_retries', category: 3, value: 1 });
    writer.push({ name: 'backend_time', category: 5, value: 1 });
    return writer;
  });
  onTestFinished(() => writers.forEach((writer) => writer.close()));
  /** Writes transfers of three sizes. */
  const transfer = (): void => {
    for (const writer of writers) {
      for (let i = 0; i < 75; i++) {
        const bytes = 4096 * 16 ** (i % 3);
        const events = { xfer_post_time: 10, xfer_time: 100 + bytes / 1000, tx_bytes: bytes, tx_requests_num: 1 };
        for (const [event, value] of Object.entries(events)) {
          const { category } = EVENTS.find((row) => row.event === `agent_${event}`)!;
          writer.push({ name: `agent_${event}`, category, value: Math.round(value) });
        }
      }
    }
  };
  return { directories: writers.map((writer) => dirname(writer.path)), transfer };
}

const builder = { name: 'own', create: () => {}, take: () => {} };
const record = { action: 'train', network: 'n', version: '1', gpu: ['NVIDIA A100'], time_lapsed: 1, success: true };

/** Returns all exports, in naming `otel`, of a producer and of an instrumentation with instruments of the API. */
async function exported(): Promise<MetricData[]> {
  // The builder events has all metrics of the builder categories.
  const builders = [...BUILDER_NAMES.filter((name) => name !== 'categories'), builder];
  const options = { naming: 'otel', builders, hostname: 'h' } as const;
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { directories, transfer } = agentsInDirectories();
  const producer = new NixlMetricProducer({ ...options, directories });
  onTestFinished(() => producer.close());
  producer.processor.process(record);
  const reader = new ManualReader();
  const instrumentation = new NixlInstrumentation({ ...options, directories: agentsInDirectories().directories });
  onTestFinished(() => instrumentation.disable());
  instrumentation.setMeterProvider(ofAnotherMake(providerWith(reader)));
  const found = new Map<string, MetricData>();
  const names = (): string[] => [...found.keys()];
  await producer.collect(); // begins the window of time by size
  transfer();
  await expect
    .poll(async () => {
      vi.advanceTimersByTime(20_000);
      const metrics = [...metricsIn(await producer.collect()), ...(await reader.metrics())];
      for (const metric of metrics) if (metric.dataPoints.length > 0) found.set(metric.descriptor.name, metric);
      return names();
    })
    .toEqual(
      expect.arrayContaining([
        'nixl.event.distribution',
        'nixl.duration.events',
        'nixl.records.gpu.time',
        'nixl.transfer.base.time',
      ]),
    );
  return [...found.values()];
}

it('every exported name has a constant, and every constant is exported', async () => {
  const metrics = await exported();
  const ofServe = SERVE_METRICS.otel.filter(({ name }) => !name.startsWith('process.'));
  // What is usual takes half a minute of transfers: test/instrumentation/size-watch.test.ts has the numbers.
  const ofUsual = [semconv.METRIC_NIXL_TRANSFER_SLOWDOWN, semconv.METRIC_NIXL_POST_SLOWDOWN];
  // Those of the process are OpenTelemetry's. Names of the builder comprehensive_names begin with its constant.
  const names = [
    ...metrics.map(({ descriptor }) => descriptor.name),
    ...ofUsual,
    ...[...SELF_METRICS, ...ofServe].map(({ name }) => name),
  ];
  const fixed = names.filter((name) => !name.startsWith(`${semconv.METRIC_NIXL_COMPREHENSIVE_EVENTS}.`));
  expect([...new Set(fixed)].sort()).toEqual(constants('METRIC_'));
  const attributes = [
    ...metrics.flatMap(({ dataPoints }) => dataPoints.flatMap((point) => Object.keys(point.attributes))),
    ...Object.keys(
      withLabels(
        'otel',
        {},
        {
          ...{ exporter: 'otlp', result: 'success', reason: 'busy' },
          ...{ kind: 'ended', level: 'note' },
          ...Object.fromEntries(INFO_LABELS.map((label) => [label, ''])),
        },
      ),
    ),
  ];
  const own = attributes.filter((name) => name.startsWith('nixl.'));
  expect([...new Set(own)].sort()).toEqual(constants('ATTR_'));
});

it('metrics of this package have the same names in both namings', () => {
  const [nixl, otel] = NAMINGS.map((naming) =>
    metricsOf(naming, { builders: PRESETS.full.builders }).map(({ name }) => name),
  );
  const own = nixl!.filter((name) => !name.startsWith('agent_'));
  expect(otel).toEqual(expect.arrayContaining(own));
  for (const name of own) expect(constants('METRIC_')).toContain(name);
});
