/** Pages of real rings have the bytes of OpenTelemetry's serialiser: each wire version, preset, naming and release, and builders. */
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { diag } from '@opentelemetry/api';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { copyFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Inside } from '../../src/ground/inside.js';
import { OPENMETRICS, PROTOBUF, TEXT } from '../../src/serve/exposition/forms.js';
import { Page } from '../../src/serve/exposition/page.js';
import { ownProcess } from '../../src/serve/own-process.js';
import { BuilderMetrics } from '../../src/instrumentation/builders/builder-metrics.js';
import { LateFeed, SourceFeed } from '../../src/instrumentation/feed/snapshot-feed.js';
import { metricData } from '../../src/instrumentation/producer/metric-data.js';
import { COLLECT, NixlMetricProducer, type PageAgents } from '../../src/instrumentation/producer/metric-producer.js';
import type { ServeState } from '../../src/instrumentation/serve-state.js';
import { NAMINGS, NIXL_RELEASES, SERIES_PRESETS } from '../../src/mapping/index.js';
import { producerSettings } from '../../src/settings/settings.js';
import type { NixlMetricProducerOptions } from '../../src/settings/options.js';
import type { MetricBuilder } from '../../src/settings/metric-builder.js';
import { openSource, RingWriter } from '../../src/shm-bridge/index.js';
import { allDrained, temporaryDirectory } from '../support/live.js';
import { checkedFamilies, seriesOf } from '../support/openmetrics.js';
import { eventsFor, fullRing, WIRE_VERSIONS } from '../support/rings.js';

const resource = resourceFromAttributes({ 'service.name': 'a "service"\n', 'service.ranks': ['0', '1'] });

/** Grows with each collect. */
let collects = 0;
function serveState(): ServeState {
  const results = { success: ++collects, failed: 2 ** 53 - 1, seconds: 0.1 * collects };
  const exporters = [
    { exporter: 'a "reader" é', failures: 0 },
    { exporter: 'otlp', failures: collects, results },
  ];
  const access = { refusals: new Map([['busy', 2 ** 53 - 1]]), isStale: false, certificateExpirySeconds: 1.9e9 };
  return { exporters, process: ownProcess(), access };
}

/** Reads a directory as serve does. Returns a function that compares a page with that of the serialiser. */
function pagesOf(directory: string, options: NixlMetricProducerOptions) {
  const { source: sourceOptions, ...profile } = producerSettings({ ...options, directories: directory });
  const builderMetrics = BuilderMetrics.of(profile, diag);
  const source = openSource({ ...sourceOptions, ...builderMetrics.wants, deadTtlMs: 600_000 });
  const sourceFeed = new SourceFeed(source, diag, { serveState: profile.hasOwnMetrics ? serveState : undefined });
  const feed = new LateFeed();
  const producer = new NixlMetricProducer({}, new Inside({ ...profile, feed, builderMetrics, bothBuckets: true }));
  builderMetrics.attach(source);
  void builderMetrics.begin();
  feed.attach(sourceFeed);
  onTestFinished(() => {
    builderMetrics.close();
    sourceFeed.close();
  });
  const serializer = new PrometheusSerializer(undefined, false, undefined, !profile.hasOwnMetrics, true);
  const exposition = new Page(TEXT, profile.hasOwnMetrics);
  const protobuf = new Page(PROTOBUF, profile.hasOwnMetrics);
  const openMetrics = new Page(OPENMETRICS, profile.hasOwnMetrics);
  const compared = async (exponential = false): Promise<string> =>
    producer[COLLECT](exponential, async ({ metrics: made, errors }) => {
      expect(errors).toEqual([]);
      const { agents } = made;
      const scopeMetrics = made.scopeMetrics.map(({ metrics }) => ({ scope: { name: '' }, metrics: [...metrics] }));
      const data = { resource, scopeMetrics: [{ scope: { name: '' }, metrics: dataOf(agents!) }, ...scopeMetrics] };
      const metrics = { resource, agents, scopeMetrics };
      const text = Buffer.from(await exposition.page(metrics)).toString();
      expect(text).toBe(serializer.serialize(data).replace(/(?<!\n)$/, '\n'));
      // A family without series would have the place of the next one.
      expect(exposition.places.filter(({ begin, end }) => begin === end)).toEqual([]);
      const other = Buffer.from(await openMetrics.page(metrics)).toString();
      checkedFamilies(other);
      expect(seriesOf(other).join('\n')).toBe(seriesOf(text).join('\n'));
      // The numbers that lie in words are those that are given. An expectation on bytes compares one by one, in seconds.
      const given = await new Page(PROTOBUF, profile.hasOwnMetrics).page(data);
      expect(Buffer.from(await protobuf.page(metrics)).equals(given)).toBe(true);
      return text;
    });
  /** A page of a snapshot that is not updated in place. */
  const fresh = async (): Promise<string> =>
    serializer.serialize({ ...(await producer.collect()).resourceMetrics, resource });
  const livesSeen = () => expect.poll(() => source.snapshot().agents.map(({ life }) => life)).not.toContain('unknown');
  return { compared, fresh, livesSeen, processor: producer.processor };
}

/** The agents' metrics as OpenTelemetry has them. */
function dataOf({ metrics, views, ...moment }: PageAgents): MetricData[] {
  const form = { delta: false, exponential: undefined, bothBuckets: true };
  return metrics.flatMap((metric, m) => metricData(metric, m, views, moment, form) ?? []);
}

/** Compares pages of the rings as they are, of the same events again, and of a further agent. */
async function comparePages(options: NixlMetricProducerOptions): Promise<void> {
  const directory = temporaryDirectory();
  const { compared, fresh, livesSeen } = pagesOf(directory, options);
  expect(await compared()).not.toContain('agent_name=');
  const writers = WIRE_VERSIONS.map((wireVersion) => {
    const file = path.join(directory, `version-${wireVersion} "quoted" é`);
    return { wireVersion, writer: new RingWriter(file, { wireVersion, capacity: 64 }) };
  });
  onTestFinished(() => writers.forEach(({ writer }) => writer.close()));
  for (let round = 0; round < 3; round++) {
    for (const { writer, wireVersion } of writers) for (const event of eventsFor(wireVersion)) writer.push(event);
    await allDrained(directory);
    await livesSeen();
    for (const exponential of [false, true, false]) {
      // A search for writers may end between the two.
      await vi.waitFor(
        async () => {
          const expected = withoutClock(await fresh());
          expect(withoutClock(await compared(exponential))).toBe(expected);
        },
        { timeout: 120_000 },
      );
    }
  }
  const further = new RingWriter(path.join(directory, 'further'), { wireVersion: 4, capacity: 64 });
  onTestFinished(() => further.close());
  for (const event of fullRing(4)) further.push(event);
  await allDrained(directory);
  expect(await compared()).toMatch(/further/);
}

/** Leaves out what moves without events. */
function withoutClock(page: string): string {
  return page.replaceAll(
    /^(nixl_(agent_idle|collector|ring_utilization|time|exporter)|process_)\w*(\{.*\})? .*$/gm,
    '',
  );
}

describe('a page of all wire versions has the bytes of the serialiser', () => {
  const all = SERIES_PRESETS.flatMap((series) => NAMINGS.map((naming) => [series, naming] as const));
  it.each(all)('with series %s in naming %s', async (series, naming) => {
    await comparePages({ series, naming });
  });

  it('of an agent with one event', async () => {
    const directory = temporaryDirectory();
    const { compared } = pagesOf(directory, { series: 'standard' });
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
    onTestFinished(() => writer.close());
    writer.push({ type: 0, value: 1 });
    await allDrained(directory);
    expect(await compared()).toContain('agent_tx_bytes_total');
  });

  it.each(NIXL_RELEASES)('with the series of NIXL %s', async (nixlRelease) => {
    await comparePages({ series: 'nixl', nixlRelease, nixlLabels: 'prometheus_mp' });
  });

  it('with configured attributes, custom events and built-in builders', async () => {
    await comparePages({
      attributes: [
        { name: 'job.name', source: { constant: 'a \\ "b"' } },
        { name: 'rank', source: { pattern: '(?<n>[0-9])', group: 'n' }, type: 'integer' },
      ],
      customEvents: [{ event: 77, kind: 'histogram', name: 'custom.histogram', bounds: [0.5, 10, 1e6] }],
      builders: ['nixl', 'transfers', 'durations', 'events', 'custom', 'agents', 'time', 'comprehensive', 'records'],
    });
  });
});

it('a page with builders of a user has the bytes of the serialiser', async () => {
  const reused: Record<string, string> = {};
  const builder: MetricBuilder = {
    name: 'mine',
    create(meter) {
      const gauge = meter.createObservableGauge('mine.gauge', { description: 'A\nB \\', unit: 's' });
      let n = 0;
      gauge.addCallback((result) => {
        result.observe(NaN, { n: ++n, kinds: ['a', 'b'], other: '"' });
        result.observe(-Infinity, Object.freeze({ is: true }));
        reused['n'] = String(n);
        result.observe(2 ** 53 + 2, reused);
      });
      const histogram = meter.createHistogram('mine.histogram', { advice: { explicitBucketBoundaries: [0.1, 1e21] } });
      for (const value of [-1, 0.05, 5, 1e22]) histogram.record(value, reused);
      meter.createUpDownCounter('9mine').add(-0.5);
      meter.createCounter('mine.without.points');
    },
  };
  const directory = temporaryDirectory();
  const { compared, processor } = pagesOf(directory, { builders: ['nixl', builder, 'records'] });
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  onTestFinished(() => writer.close());
  for (const event of eventsFor(4)) writer.push(event);
  await allDrained(directory);
  for (let i = 0; i < 3; i++) {
    processor.process({ job: `job ${i}`, durationSeconds: 1.5 });
    expect(await compared()).toMatch(/^mine_gauge\{n="\d",kinds="\[\\"a\\",\\"b\\"\]",other="\\""\} NaN$/m);
  }
});

const folder = process.env['NIXL_RINGS'];
it.skipIf(folder === undefined)('a page of rings that NIXL wrote has the bytes of the serialiser', async () => {
  const directory = temporaryDirectory();
  const files = readdirSync(folder!, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ring'));
  for (const [i, file] of files.entries()) copyFileSync(path.join(folder!, file), path.join(directory, `ring-${i}`));
  const { compared } = pagesOf(directory, { series: 'full' });
  await expect.poll(async () => (await compared()).includes('agent_name=')).toBe(true);
  for (let i = 0; i < 2; i++) await compared();
});
