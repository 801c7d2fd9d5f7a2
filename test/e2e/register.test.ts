/** Zero code: `node --import .../register app.mjs`, in real programs that start their SDK at once, later or never. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { RunningCommand } from '../cli/command.js';
import { dist } from '../support/child.js';
import { temporaryDirectory } from '../support/live.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';

const REGISTER = new URL(dist('register.js')).pathname;
const SDK = import.meta.resolve('@opentelemetry/sdk-metrics');
const OTLP = import.meta.resolve('@opentelemetry/exporter-metrics-otlp-proto');
const API = import.meta.resolve('@opentelemetry/api');

/** Service that sets its provider `when`, and prints the first metrics that its reader collects. */
function program(when: 'at once' | 'later' | 'never'): string {
  return `
    import { metrics } from ${JSON.stringify(API)};
    import { AggregationTemporality, MeterProvider, MetricReader } from ${JSON.stringify(SDK)};
    class Reader extends MetricReader {
      constructor() { super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE }); }
      async onForceFlush() {}
      async onShutdown() {}
    }
    const reader = new Reader();
    const register = () => metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    const when = ${JSON.stringify(when)};
    if (when === 'at once') register();
    if (when === 'later') setTimeout(register, 1500);
    const bytesOf = async () => {
      if (when === 'later' && metrics.getMeterProvider().constructor.name === 'NoopMeterProvider') return undefined;
      const { resourceMetrics } = await reader.collect();
      const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      return all.find((m) => m.descriptor.name === 'agent_tx_bytes_total')?.dataPoints[0]?.value;
    };
    const print = async () => { // one collect after the other: a slow one must not print twice
      const bytes = await bytesOf();
      if (bytes === undefined) setTimeout(print, 50);
      else console.log('bytes', bytes);
    };
    if (when !== 'never') setTimeout(print, 50);
    console.log('started');
  `;
}

function run(directory: string | undefined, when: Parameters<typeof program>[0], flag = '--import'): RunningCommand {
  return runWith(directory === undefined ? {} : { NIXL_TELEMETRY_DIR: directory }, when, flag);
}

function runWith(env: Record<string, string>, when: Parameters<typeof program>[0], flag = '--import'): RunningCommand {
  const file = path.join(temporaryDirectory(), 'app.mjs');
  writeFileSync(file, program(when));
  return new RunningCommand(process.execPath, [flag, REGISTER, file], env);
}

function ringWith(bytes: bigint): string {
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
  writer.push({ type: 0, value: bytes });
  writer.close();
  return directory;
}

test.each([
  ['at once', '--import'],
  ['later', '--import'],
  ['at once', '--require'],
] as const)('a provider that comes %s gets the numbers (%s)', async (when, flag) => {
  const { code, stdout, stderr } = await run(ringWith(42n), when, flag).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe('started\nbytes 42\n');
});

test("the directory may be in NIXL's configuration file", async () => {
  const file = path.join(temporaryDirectory(), 'nixl.toml');
  writeFileSync(file, `NIXL_TELEMETRY_DIR = "${ringWith(42n)}"`);
  const { stdout, stderr } = await runWith({ NIXL_CONFIG_FILE: file }, 'at once').ended;
  expect({ stdout, stderr }).toEqual({ stdout: 'started\nbytes 42\n', stderr: '' });
});

test('a program without an SDK, or without a directory, runs and ends as without /register', async () => {
  for (const directory of [undefined, ringWith(1n)]) {
    expect(await run(directory, 'never').ended).toMatchObject({ code: 0, stdout: 'started\n' });
  }
});

test('a program without an SDK gets one warning on stderr, after half a minute', async () => {
  const folder = temporaryDirectory();
  const [clock, app] = [path.join(folder, 'clock.mjs'), path.join(folder, 'app.mjs')];
  writeFileSync(clock, 'const real = setTimeout; globalThis.setTimeout = (call, ms) => real(call, ms / 1000);');
  writeFileSync(app, "process.on('warning', () => process.exit()); setInterval(() => {}, 60_000);");
  const command = new RunningCommand(process.execPath, ['--import', clock, '--import', REGISTER, app], {
    NIXL_TELEMETRY_DIR: ringWith(1n),
  });
  const { code, stderr } = await command.ended;
  expect(stderr).toMatch(
    /^\(node:\d+\) Warning: NIXL telemetry: no MeterProvider with a metric reader in 30 s, so no ring/,
  );
  expect(code).toBe(0);
});

test('a missing directory does not affect the service', async () => {
  const child = run('/tmp/nixl\u0001/none', 'never');
  expect(await child.ended).toMatchObject({ code: 0, stdout: 'started\n' });
});

test('worker threads, which run --import again, export nothing', async () => {
  const folder = temporaryDirectory();
  const setup = path.join(folder, 'setup.mjs');
  const app = path.join(folder, 'app.mjs');
  writeFileSync(
    setup,
    `import { metrics } from ${JSON.stringify(API)};
    import { AggregationTemporality, MeterProvider, MetricReader } from ${JSON.stringify(SDK)};
    class Reader extends MetricReader {
      constructor() { super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE }); }
      async onForceFlush() {}
      async onShutdown() {}
    }
    globalThis.reader = new Reader();
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [globalThis.reader] }));`,
  );
  // The provider exists before the instrumentation: the first collect of each thread shows whether it exports.
  writeFileSync(
    app,
    `import { isMainThread, threadId, Worker } from 'node:worker_threads';
    const { resourceMetrics } = await globalThis.reader.collect();
    const scopes = resourceMetrics.scopeMetrics.map(({ scope }) => scope.name);
    console.log('thread', threadId, scopes.join());
    if (isMainThread) new Worker(new URL(import.meta.url));`,
  );
  const flags = ['--import', setup, '--import', REGISTER];
  const command = new RunningCommand(process.execPath, [...flags, app], { NIXL_TELEMETRY_DIR: ringWith(1n) });
  const { code, stdout, stderr } = await command.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe('thread 0 opentelemetry-instrumentation-nixl\nthread 1 \n');
});

test("OpenTelemetry's variable makes the histograms of OTLP exponential", async () => {
  const receiver = await startOtlpReceiver();
  const folder = temporaryDirectory();
  const setup = path.join(folder, 'setup.mjs');
  const app = path.join(folder, 'app.mjs');
  writeFileSync(
    setup,
    `import { metrics } from ${JSON.stringify(API)};
    import { MeterProvider, PeriodicExportingMetricReader } from ${JSON.stringify(SDK)};
    import { OTLPMetricExporter } from ${JSON.stringify(OTLP)};
    const reader = new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() });
    metrics.setGlobalMeterProvider((globalThis.provider = new MeterProvider({ readers: [reader] })));`,
  );
  // On a busy machine a drain for the last export may end before it has found the ring.
  writeFileSync(
    app,
    `import { inspectRing } from ${JSON.stringify(dist('rings.js'))};
    const ring = process.env.NIXL_TELEMETRY_DIR + '/agent';
    while (inspectRing(ring).pending > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await globalThis.provider.shutdown();`,
  );
  const directory = temporaryDirectory();
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
  for (const value of [3n, 3n, 4n]) writer.push({ type: 6, value });
  writer.close();
  const command = new RunningCommand(process.execPath, ['--import', setup, '--import', REGISTER, app], {
    NIXL_TELEMETRY_DIR: directory,
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram',
  });
  expect(await command.ended).toMatchObject({ code: 0, stderr: '' });
  const { exponential } = receiver.points().find(({ metric }) => metric === 'agent_xfer_time_us')!;
  expect(exponential).toMatchObject({ temporality: 2, count: 3, sum: 10, min: 3, max: 4, scale: 4, offset: 25 });
  expect(exponential!.buckets).toEqual([2, 0, 0, 0, 0, 0, 1]);
});
