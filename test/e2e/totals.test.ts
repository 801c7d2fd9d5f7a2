/** Sums of an instrumentation over real rings: nothing is lost or counted twice when it starts again. */
import { join } from 'node:path';
import type { MeterProvider } from '@opentelemetry/api';
import { AggregationTemporality, type DataPoint, type Histogram } from '@opentelemetry/sdk-metrics';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type MetricBuilder, NixlInstrumentation, type NixlInstrumentationConfig } from '../../src/index.js';
import { RingWriter } from '../../src/rings.js';
import { ManualReader, ofAnotherMake, providerWith } from '../instrumentation/readers.js';
import { temporaryDirectory } from '../support/live.js';

type Disguise = (provider: MeterProvider) => MeterProvider;

/** Returns the SDK's provider unchanged: the instrumentation joins its readers. */
const joined: Disguise = (provider) => provider;

interface Seen {
  bytes: number;
  transfers: number;
  startTime: unknown;
}

/** Makes a ring, the instrumentation on it, and a reader of each temporality. */
function host(config: NixlInstrumentationConfig = {}, disguised = joined) {
  const directory = temporaryDirectory();
  const open = (): RingWriter => new RingWriter(join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  let writer = open();
  const [cumulative, delta] = [new ManualReader(), new ManualReader(AggregationTemporality.DELTA)];
  const one = new NixlInstrumentation({ directories: directory, hostname: 'h', ...config });
  onTestFinished(() => one.disable());
  one.setMeterProvider(disguised(providerWith(cumulative, delta)));
  const deltas = { bytes: 0, transfers: 0 };
  const seen = async (): Promise<Seen> => {
    const gained = pointOf(await delta.metrics());
    deltas.bytes += gained.bytes;
    deltas.transfers += gained.transfers;
    const now = pointOf(await cumulative.metrics());
    expect(deltas).toEqual({ bytes: now.bytes, transfers: now.transfers });
    return now;
  };
  const write = (bytes: number): void => {
    for (const [type, value] of [[6, 5] as const, [0, bytes] as const]) expect(writer.push({ type, value })).toBe(true);
  };
  /** Ends the agent, and begins the next one of its name. */
  const end = (): void => writer.close();
  const begin = (): void => void (writer = open());
  return { one, delta, cumulative, seen, write, end, begin };
}

function pointOf(metrics: Awaited<ReturnType<ManualReader['metrics']>>): Seen {
  const [bytes, times] = ['agent_tx_bytes_total', 'agent_xfer_time_us'].map(
    (name) =>
      metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints[0] as DataPoint<unknown> | undefined,
  );
  return {
    bytes: (bytes?.value as number | undefined) ?? 0,
    transfers: (times?.value as Histogram | undefined)?.count ?? 0,
    startTime: bytes?.startTime,
  };
}

const WAYS: [string, (one: NixlInstrumentation) => void][] = [
  [
    'disable() and enable()',
    (one) => {
      one.disable();
      one.enable();
    },
  ],
  [
    'setConfig()',
    (one) => one.setConfig({ ...one.getConfig(), drainIntervalMs: one.getConfig().drainIntervalMs! - 1 }),
  ],
];

describe.each([
  ['producers in readers', joined],
  ['instruments', ofAnotherMake],
])('with %s', (_way, disguised) => {
  it.each(WAYS)('sums and histograms continue together over %s', async (_, beginAgain) => {
    const { one, seen, write } = host({ drainIntervalMs: 20 }, disguised);
    write(1000);
    await expect.poll(seen).toMatchObject({ bytes: 1000, transfers: 1 });
    const { startTime } = await seen();
    write(1); // no reader collects it before the end
    beginAgain(one);
    write(1500); // more than before: the SDK would take it for an increase of 500
    await expect.poll(seen).toMatchObject({ bytes: 2501, transfers: 3 });
    beginAgain(one);
    write(10); // less
    await expect.poll(seen).toEqual({ bytes: 2511, transfers: 4, startTime });
  });
});

it('sums of instruments continue when a released agent returns', async () => {
  // The idle TTL releases it where its end cannot be seen.
  const { delta, seen, write, end, begin } = host({ idleTtlMs: 100, deadTtlMs: 100 }, ofAnotherMake);
  for (const [bytes, total] of [
    [1000, 1000],
    [1500, 2500],
    [1, 2501],
  ] as const) {
    write(bytes);
    await expect.poll(seen).toMatchObject({ bytes: total });
    end();
    // A delta has only observed series.
    await expect.poll(() => delta.points('agent_tx_bytes_total')).toEqual([]);
    begin();
  }
  expect((await seen()).transfers).toBe(3);
});

it('the count of events for builders continues over setConfig()', async () => {
  const gained: number[] = [];
  const builder: MetricBuilder = {
    name: 'own',
    create() {},
    take() {},
    observe: (gains) => gained.push(...gains.map(({ count }) => count)),
  };
  const { one, cumulative, write } = host({ builders: ['nixl', builder] });
  const delivered = async (): Promise<unknown> => (await cumulative.points('nixl.builders.events'))[0]?.value;
  write(1);
  await expect.poll(delivered).toBe(2);
  write(2);
  one.setConfig({ ...one.getConfig(), hostname: 'other' });
  write(3);
  await expect.poll(delivered).toBe(6);
  expect(gained.reduce((sum, count) => sum + count, 0)).toBe(6);
});
