/** Metrics of serve about itself, in a producer: deltas, readers without results, and none in a service. */
import { diag } from '@opentelemetry/api';
import { expect, it, onTestFinished } from 'vitest';
import { Inside } from '../../src/ground/inside.js';
import { BuilderMetrics } from '../../src/instrumentation/builders/builder-metrics.js';
import { SourceFeed } from '../../src/instrumentation/feed/snapshot-feed.js';
import { NixlMetricProducer } from '../../src/instrumentation/producer/metric-producer.js';
import { SERVE_METRICS } from '../../src/instrumentation/serve-metrics.js';
import type { ServeState } from '../../src/instrumentation/serve-state.js';
import { producerSettings } from '../../src/settings/settings.js';
import { openSource } from '../../src/shm-bridge/index.js';
import { temporaryDirectory } from '../support/live.js';
import { metricsIn } from './readers.js';

const PROCESS = { residentBytes: 50, openDescriptors: 5, maxDescriptors: undefined, startSeconds: 1, uptimeSeconds: 2 };

/** Returns the state at the nth collect. */
function stateAt(n: number): ServeState {
  return {
    exporters: [
      { exporter: 'mine', failures: n },
      { exporter: 'otlp', failures: 0, results: { success: 10 * n, failed: 0, seconds: n / 4 } },
    ],
    process: { ...PROCESS, cpuSeconds: n * n },
    access: undefined,
  };
}

it('deltas begin at the previous collect', async () => {
  const { source: sourceOptions, ...profile } = producerSettings({ directories: temporaryDirectory() });
  let collects = 0;
  const feed = new SourceFeed(openSource(sourceOptions), diag, { serveState: () => stateAt(++collects) });
  onTestFinished(() => feed.close());
  const builderMetrics = BuilderMetrics.of(profile, diag);
  onTestFinished(() => builderMetrics.close());
  const producer = new NixlMetricProducer({ temporality: 'delta' }, new Inside({ ...profile, feed, builderMetrics }));
  const collect = async () => {
    const values = metricsIn(await producer.collect()).flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes, value }) => [
        [descriptor.name, attributes['exporter'], attributes['result']].filter(Boolean).join(' '),
        value as number,
      ]),
    );
    return Object.fromEntries(values) as Record<string, number>;
  };
  await collect();
  expect(await collect()).toMatchObject({ 'nixl.exporter.exports otlp success': 10, process_cpu_seconds_total: 3 });
  const third = await collect();
  expect(third).toMatchObject({
    'nixl.otel.build_info': 1,
    'nixl.exporter.failures mine': 1,
    'nixl.exporter.failures otlp': 0,
    'nixl.exporter.exports otlp success': 10,
    'nixl.exporter.exports otlp failed': 0,
    'nixl.exporter.time otlp': 0.25,
    process_cpu_seconds_total: 5,
    process_open_fds: 5,
    process_resident_memory_bytes: 50,
  });
  // A reader that does not tell its results, and a process without a limit.
  expect(Object.keys(third).filter((key) => /(exports|time) mine|max_fds/.test(key))).toEqual([]);
});

it('a service has none of them', async () => {
  const producer = new NixlMetricProducer({ directories: temporaryDirectory() });
  onTestFinished(() => producer.close());
  const names = metricsIn(await producer.collect()).map(({ descriptor }) => descriptor.name);
  const ofServe: string[] = SERVE_METRICS.nixl.map(({ name }) => name);
  expect(names).toContain('nixl.collector.ticks');
  expect(names.filter((name) => ofServe.includes(name))).toEqual([]);
});
