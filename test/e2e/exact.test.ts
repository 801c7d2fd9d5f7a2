/** Rings of every wire version, as agents write them: every event exactly once, and every number exact, to the end. */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { NixlMetricProducer } from '../../src/index.js';
import { DURATION_BOUNDS_US, EVENTS, type Naming, NAMINGS } from '../../src/mapping/index.js';
import { observeRing, openRing, type RingEvent, RingWriter, type WriteEvent } from '../../src/shm-bridge/index.js';
import { scrape } from '../instrumentation/readers.js';
import { temporaryDirectory } from '../support/live.js';
import { type OtlpPoint, startOtlpReceiver } from '../support/otlp-receiver.js';
import { type Sample, samplesOf } from '../support/page.js';

/** What doubles cannot tell apart, and what does not fit the usual number types. */
const VALUES = [0n, 1n, 10n, 11n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

/** Every event type twice, each time with other values. */
const everyType = [...EVENTS, ...EVENTS].map(({ type }, i) => ({ type, value: VALUES[i % VALUES.length]! }));
const unknownTypes = [21, 4_000_000_000].map((type, i) => ({ type, value: VALUES[7 + i]! }));

/** As `everyType`, in the words of wire version 1, and what backends send beside them in all eight categories. */
const everyName = everyType.map(({ type, value }, i) => {
  const { event, wireVersion1Name, category } = EVENTS[type]!;
  return { name: wireVersion1Name ?? event, category, timestampUs: BigInt(i), value };
});
const backendNames = [0, 1, 2, 3, 4, 5, 6, 7].map((category) => ({
  name: `backend.${category} "quoted"`,
  category,
  timestampUs: 5n,
  value: VALUES[category + 1]!,
}));

function eventsFor(wireVersion: number): (WriteEvent & RingEvent)[] {
  if (wireVersion === 1) return [...everyName, ...backendNames];
  if (wireVersion > 2) return [...everyType, ...unknownTypes];
  return [...everyType, ...unknownTypes].map((e) => ({ ...e, category: EVENTS[e.type]?.category ?? 7 }));
}

/** A ring that was emptied `rounds` slots further on before these events were written, so that they wrap round. */
function writeRing(file: string, wireVersion: number, events: readonly WriteEvent[], skipped = 0): void {
  const writer = new RingWriter(file, { wireVersion, capacity: 64 });
  const drain = openRing(file);
  for (let i = 0; i < skipped; i++) {
    writer.push({ value: 1n });
    drain.drain();
  }
  drain.close();
  for (const event of events) expect(writer.push(event)).toBe(true);
  writer.close();
}

const WIRE_VERSIONS = [1, 2, 3, 4, 5];

describe('one ring, observed and drained', () => {
  for (const wireVersion of WIRE_VERSIONS) {
    for (const skipped of [0, 40]) {
      test(`wire version ${wireVersion}, from slot ${skipped}`, () => {
        const file = path.join(temporaryDirectory(), 'agent');
        const events = eventsFor(wireVersion);
        writeRing(file, wireVersion, events, skipped);
        const observer = observeRing(file);
        expect(observer.look().events).toEqual(events);
        observer.close();
        const ring = openRing(file);
        expect(ring.drain()).toEqual(events);
        expect(ring.stats()).toMatchObject({ pending: 0, drained: BigInt(events.length), suspect: false });
        ring.close();
      });
    }
  }
});

/** What one event adds up to, worked out from the list of events alone. */
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

/** The same ring through a real Prometheus exporter and a real OTLP one. */
async function exported(directory: string, naming: Naming): Promise<Exported> {
  const receiver = await startOtlpReceiver();
  const [pulled, pushed] = [1, 2].map(() => new NixlMetricProducer({ directories: directory, naming, hostname: 'h' }));
  onTestFinished(() => [pulled, pushed].forEach((producer) => producer!.close()));
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url: receiver.url }),
    metricProducers: [pushed!],
    exportIntervalMillis: 3_600_000,
  });
  const provider = new MeterProvider({ readers: [reader] });
  const samples = samplesOf(await scrape(pulled!));
  await provider.shutdown(); // which pushes once
  return { samples, points: receiver.points() };
}

describe('from the ring to a page and to a push', () => {
  for (const naming of NAMINGS) {
    for (const wireVersion of WIRE_VERSIONS) {
      test(`naming ${naming}, wire version ${wireVersion}`, async () => {
        const directory = temporaryDirectory();
        const events = eventsFor(wireVersion);
        writeRing(path.join(directory, 'agent'), wireVersion, events, 40);
        // What lay there before was told to nobody here: another consumer took it.
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
        expectDurations({ samples, points }, naming, events);
      });
    }
  }
});

function expectDurations({ samples, points }: Exported, naming: Naming, events: readonly RingEvent[]): void {
  const divisor = naming === 'nixl' ? 1 : 1e6;
  const values = events.filter((event) => labelOf(event) === 'agent_xfer_time').map(({ value }) => value);
  const bounds = DURATION_BOUNDS_US.map((bound) => bound / divisor);
  const upTo = DURATION_BOUNDS_US.map((bound) => values.filter((value) => value <= BigInt(bound)).length);
  const sum = Number(values.reduce((a, b) => a + b, 0n)) / divisor;
  const name = naming === 'nixl' ? 'agent_xfer_time_us' : 'nixl.transfer.duration';

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
