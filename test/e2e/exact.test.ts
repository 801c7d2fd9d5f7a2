/** Rings of every wire version, as agents write them: every event counts exactly once, and every exported number is exact. */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NixlMetricProducer } from '../../src/index.js';
import { DURATION_BOUNDS_US, EVENTS, type Naming, NAMINGS } from '../../src/mapping/index.js';
import { observeRing, openRing, type RingEvent } from '../../src/shm-bridge/index.js';
import { scrape } from '../instrumentation/readers.js';
import { allDrained, temporaryDirectory } from '../support/live.js';
import { type OtlpPoint, startOtlpReceiver } from '../support/otlp-receiver.js';
import { type Sample, samplesOf } from '../support/page.js';
import { eventsFor, fullRing, header, spoilPadding, WIRE_VERSIONS, writeRing } from '../support/rings.js';

const RINGS = [
  ['partly filled', 0, eventsFor],
  ['wrapped round', 40, eventsFor],
  ['full', 0, fullRing],
  ['full and wrapped round', 40, fullRing],
] as const;

describe('one ring, observed and drained, with an unchanged file afterwards', () => {
  for (const wireVersion of WIRE_VERSIONS) {
    test.each(RINGS)(`wire version ${wireVersion}, %s`, (_, skipped, eventsOf) => {
      const file = path.join(temporaryDirectory(), 'agent');
      const events = eventsOf(wireVersion);
      writeRing(file, wireVersion, events, skipped);
      spoilPadding(file, wireVersion);
      const found = readFileSync(file);
      const observer = observeRing(file);
      expect(observer.observe().events).toEqual(events);
      observer.close();
      expect(readFileSync(file).equals(found)).toBe(true);
      const ring = openRing(file);
      expect(ring.drain()).toEqual(events);
      expect(ring.stats()).toMatchObject({ pending: 0, drained: BigInt(events.length), suspect: false });
      ring.close();
      found.copy(found, header(wireVersion).readPos, 0, 8); // all events are read: read_pos is write_pos
      expect(readFileSync(file).equals(found)).toBe(true);
    });
  }
});

/** Totals of one event, computed from the list of events alone. */
interface Expected {
  label: string;
  count: number;
  sum: number;
  last: number;
}

function expectedOf(events: readonly RingEvent[]): Expected[] {
  const labels = [...new Set(events.map(labelOf))];
  return labels.map((label) => {
    const values = events.filter((event) => labelOf(event) === label).map(({ value }) => value);
    const sum = values.reduce((a, b) => a + b, 0n);
    return { label, count: values.length, sum: Number(sum), last: Number(values.at(-1)) };
  });
}

function labelOf({ type, name }: RingEvent): string {
  if (type !== undefined) return EVENTS[type]?.event ?? `type_${type}`;
  return EVENTS.find((row) => row.wireVersion1Name === name)?.event ?? name!;
}

interface Exported {
  samples: Sample[];
  points: OtlpPoint[];
}

/** Exports the same ring through a real Prometheus exporter and a real OTLP exporter. */
async function exported(directory: string, naming: Naming): Promise<Exported> {
  const receiver = await startOtlpReceiver();
  // Each exporter has a copy: a later source does not get the events that an earlier source drained.
  const copy = temporaryDirectory();
  cpSync(directory, copy, { recursive: true });
  const [pulled, pushed] = [directory, copy].map(
    (directories) => new NixlMetricProducer({ directories, naming, hostname: 'h', series: 'full' }),
  );
  onTestFinished(() => [pulled, pushed].forEach((producer) => producer!.close()));
  await allDrained(directory, copy);
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: receiver.url }),
    metricProducers: [pushed!],
    exportIntervalMillis: 3_600_000,
  });
  const provider = new MeterProvider({ readers: [reader] });
  const samples = samplesOf(await scrape(pulled!));
  await provider.shutdown(); // this pushes once
  return { samples, points: receiver.points() };
}

describe('from the ring to an exposition and to a push', () => {
  for (const naming of NAMINGS) {
    for (const wireVersion of WIRE_VERSIONS) {
      test(`naming ${naming}, wire version ${wireVersion}`, async () => {
        const directory = temporaryDirectory();
        const events = eventsFor(wireVersion);
        writeRing(path.join(directory, 'agent'), wireVersion, events, 40);
        // Earlier events reach no exporter here: another consumer has drained them.
        const { samples, points } = await exported(directory, naming);
        const key = naming === 'nixl' ? 'event' : 'nixl.event.name';
        const pageKey = key.replaceAll('.', '_');
        const page = (name: string, label: string) =>
          samples.find((one) => one.name === name && one.labels[pageKey] === label)?.value;
        const push = (name: string, label: string) =>
          points.find((one) => one.metric === name && one.attributes[key] === label)?.value;
        for (const { label, count, sum, last } of expectedOf(events)) {
          const onPage = ['nixl_events_total', 'nixl_event_value_total', 'nixl_event_last'].map((n) => page(n, label));
          const inPush = ['nixl.events', 'nixl.event.value', 'nixl.event.last'].map((n) => push(n, label));
          expect({ label, onPage, inPush }).toEqual({
            label,
            onPage: [count, sum, last],
            inPush: [count, sum, last],
          });
        }
        for (const duration of DURATIONS) expectHistogram({ samples, points }, naming, duration, events);
      });
    }
  }
});

const DURATIONS = [
  { event: 'agent_xfer_time', nixl: 'agent_xfer_time_us', otel: 'nixl.transfer.duration' },
  { event: 'agent_xfer_post_time', nixl: 'agent_xfer_post_time_us', otel: 'nixl.transfer.post.duration' },
];

function expectHistogram(
  { samples, points }: Exported,
  naming: Naming,
  duration: (typeof DURATIONS)[number],
  events: readonly RingEvent[],
): void {
  const divisor = naming === 'nixl' ? 1 : 1e6;
  const name = duration[naming];
  const values = events.filter((event) => labelOf(event) === duration.event).map(({ value }) => value);
  const bounds = DURATION_BOUNDS_US.map((bound) => bound / divisor);
  const upTo = DURATION_BOUNDS_US.map((bound) => values.filter((value) => value <= BigInt(bound)).length);
  const sum = Number(values.reduce((a, b) => a + b, 0n)) / divisor;

  const { histogram } = points.find(({ metric }) => metric === name)!;
  const cumulative = histogram!.buckets.map((_, i) => histogram!.buckets.slice(0, i + 1).reduce((a, b) => a + b));
  expect(histogram).toMatchObject({ count: values.length, sum, bounds });
  expect(cumulative).toEqual([...upTo, values.length]);

  const pageName = name.replaceAll('.', '_');
  const buckets = samples.filter((one) => one.name === `${pageName}_bucket`);
  expect(buckets.map(({ labels }) => labels['le'])).toEqual([...bounds.map(String), '+Inf']);
  expect(buckets.map(({ value }) => value)).toEqual([...upTo, values.length]);
  expect(samples.find((one) => one.name === `${pageName}_sum`)?.value).toBe(sum);
}
