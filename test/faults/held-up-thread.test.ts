/** The collector thread is blocked, as by a frozen disk: the main thread does not wait for it. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { scrape, start, temporaryDirectory, until, valueOf } from '../cli/command.js';
import { dist, resultOf } from '../support/child.js';
import { CollectorStop, type Place } from '../support/held-up.js';

const PROGRAM = `
import { openSync, readSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
const { NixlInstrumentation, NixlMetricProducer } = await import(arg.index);
const { openSource, RingWriter } = await import(arg.bridge);
const { tallyOptions } = await import(arg.mapping);
const { MeterProvider, MetricReader } = await import(arg.sdk);
const control = openSync(arg.file, 'r+');
const hold = (where) => writeSync(control, where, 0);
const isHeldUp = () => readSync(control, bytes, 0, 2, 0) === 2 && bytes[1] === 1;
const bytes = Buffer.alloc(2);
const writer = new RingWriter(arg.directory + '/agent', { wireVersion: 4, capacity: 64 });
const totalIn = ({ resourceMetrics }) => resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
  .find((metric) => metric.descriptor.name === 'agent_tx_bytes_total')?.dataPoints[0]?.value;
class Reader extends MetricReader { async onShutdown() {} async onForceFlush() {} }

writer.push({ type: 0, value: 1n });
const directories = arg.directory;
const producers = [1, 2, 3].map(() => new NixlMetricProducer({ directories, series: 'full' }));
const reader = new Reader();
const instrumentation = new NixlInstrumentation({ directories, series: 'full' });
instrumentation.setMeterProvider(new MeterProvider({ readers: [reader] }));
// The bounds of series full, so that it shares the tally of the producers.
const source = openSource({ directories: [directories], tally: tallyOptions() });
const tap = source.openTypeTap({ types: [0] });
for (const producer of producers) while (totalIn(await producer.collect()) !== 1) await sleep(5);
while (totalIn(await reader.collect()) !== 1) await sleep(5);
source.snapshot();

hold(arg.where);
writer.push({ type: 0, value: 10n });
while (!isHeldUp()) await sleep(1);
let turns = 0;
const counting = setInterval(() => turns++, 5);
const meanwhile = (await Promise.all(producers.map((producer) => producer.collect()))).map(totalIn);
clearInterval(counting);

const began = performance.now();
source.drainNow(100);
const stale = source.snapshot().agents[0].events[0].sum;
tap.close();
source.openTypeTap({ types: [0] });
source.openReader().close();
source.close();
instrumentation.disable();
instrumentation.enable();
const later = openSource({ directories: [directories], tally: tallyOptions() });
later.drainNow(100);
later.snapshot();
later.close();
producers[2].close();
const blockedMs = performance.now() - began;
const instruments = totalIn(await reader.collect());

const heldUp = isHeldUp();
hold('-');
const after = [];
for (const producer of [producers[0], producers[1]]) {
  while (totalIn(await producer.collect()) === 1) await sleep(5);
  after.push(totalIn(await producer.collect()));
}
console.log(JSON.stringify({ turns, meanwhile, stale: String(stale), blockedMs, heldUp, after, instruments }));
for (const producer of producers) producer.close();
`;

/** Checks a service while its collector thread is blocked at this place, and after the thread continues. */
async function heldUpAt(where: Place): Promise<void> {
  const { env, file } = new CollectorStop();
  const through = ['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const sdk = import.meta.resolve('@opentelemetry/sdk-metrics');
  const files = { index: dist('index.js'), bridge: dist('shm-bridge/index.js'), mapping: dist('mapping/index.js') };
  const found = await resultOf<Record<string, unknown>>(
    PROGRAM,
    { directory: temporaryDirectory(), file, where, sdk, ...files },
    through,
  );
  expect(found).toMatchObject({ meanwhile: [1, 1, 1], stale: '1', heldUp: true, after: [11, 11] });
  expect(found['turns']).toBeGreaterThan(10); // the event loop continued while all calls waited
  // Only the first of a dozen calls may wait, and at most 100 ms instead of the 2000 ms of a drain.
  expect(found['blockedMs']).toBeLessThan(1500);
}

test('while it looks for rings', () => heldUpAt('s'));

test('while it drains one', () => heldUpAt('p'));

test('serve answers, reports the blocked thread at /readyz, continues with its events, and ends on a signal', async () => {
  const collector = new CollectorStop();
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 1n });
  const serve = start(['serve', '--dir', directory, '--port', '0', '--shutdown-timeout', '5000'], collector.env);
  const [, url] = await serve.says(/serves (http:\S+) from/);
  const total = async (): Promise<number> => valueOf(await scrape(url!), 'agent_tx_bytes_total');
  await until(async () => (await total()) === 1);
  collector.hold('s');
  await until(() => Promise.resolve(collector.isHeldUp));
  writer.push({ type: 0, value: 10n });
  expect(await total()).toBe(1);
  await until(async () => (await (await fetch(new URL('/readyz', url))).text()).includes('has had no turn for'));
  collector.release();
  await until(async () => (await total()) === 11);
  collector.hold('s');
  await until(() => Promise.resolve(collector.isHeldUp));
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
});

test('serve exports the events of its first drain, although a signal comes during it', async () => {
  const collector = new CollectorStop();
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 42n });
  collector.hold('s');
  const serve = start(['serve', '--dir', directory, '--state', 'off', '--exporter', 'console'], collector.env);
  await until(() => Promise.resolve(collector.isHeldUp));
  serve.child.kill('SIGTERM');
  collector.release();
  const { code, signal, stdout } = await serve.ended;
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  expect(stdout).toMatch(/value: 42$/m);
});
