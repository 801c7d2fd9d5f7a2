/** Producers joined to real readers over real rings, in separate processes. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { dist, resultOf, runProgram } from '../support/child.js';
import { temporaryDirectory } from '../support/live.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';

/** Code with a delta reader, and with a ring that other code of the program writes. */
const PRELUDE = `
  import path from 'node:path';
  import { metrics, diag } from '@opentelemetry/api';
  import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
  const { NixlInstrumentation, NixlMetricProducer } = await import(${JSON.stringify(dist('index.js'))});
  const { RingWriter } = await import(${JSON.stringify(dist('rings.js'))});
  const lines = [];
  const log = (...line) => lines.push(line.slice(1).join(' '));
  diag.setLogger({ error: log, warn: log, info() {}, debug() {}, verbose() {} });
  class Reader extends MetricReader {
    constructor(temporality, metricProducers = []) {
      super({ aggregationTemporalitySelector: () => temporality, metricProducers });
    }
    onForceFlush() {}
    onShutdown() {}
    async metrics() {
      const { resourceMetrics, errors } = await this.collect();
      lines.push(...errors.map(String));
      return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    }
    async sum(name) {
      const points = (await this.metrics()).filter((metric) => metric.descriptor.name === name).flatMap((m) => m.dataPoints);
      return points.reduce((sum, { value }) => sum + (value.count ?? value), 0);
    }
  }
  const { DELTA, CUMULATIVE } = AggregationTemporality;
  const until = async (condition) => { while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5)); };
`;

test('deltas over disable(), enable(), setConfig() and other providers add up to all written events', async () => {
  const result = await resultOf<{ written: number; reported: number; lines: string[] }>(
    `${PRELUDE}
    const writer = new RingWriter(path.join(arg, 'agent'), { wireVersion: 4, capacity: 65536 });
    let written = 0;
    const write = (count) => { for (let i = 0; i < count; i++) if (writer.push({ type: 6, value: 10 })) written++; };
    const instrumentation = new NixlInstrumentation({ directories: arg });
    let reported = 0;
    let reader;
    const provider = () => {
      reader = new Reader(DELTA);
      instrumentation.setMeterProvider(new MeterProvider({ readers: [reader] }));
    };
    const add = async () => { reported += await reader.sum('agent_xfer_time_us'); };
    provider();
    for (let round = 0; round < 40; round++) {
      write(97);
      if (round % 2 === 0) await add();
      write(31);
      await new Promise((resolve) => setTimeout(resolve, round % 30));
      if (round % 4 === 0) { instrumentation.disable(); write(5); instrumentation.enable(); }
      if (round % 4 === 1) instrumentation.setConfig({ directories: arg, deadTtlMs: 30000 + round });
      if (round % 4 === 2) provider();
      if (round % 4 === 3) instrumentation.setConfig({ directories: arg, durationBoundsUs: [1, 10 + round] });
      write(3);
    }
    await until(async () => { await add(); return reported >= written; });
    await add();
    instrumentation.disable();
    writer.close();
    console.log(JSON.stringify({ written, reported, lines }));
  `,
    temporaryDirectory(),
  );
  expect(result).toEqual({ written: result.written, reported: result.written, lines: [] });
  expect(result.written).toBeGreaterThan(5000);
});

test('a provider that is shut down flushes the last events, then its rings are free for another process', async () => {
  const directory = temporaryDirectory();
  const receiver = await startOtlpReceiver();
  const { code, stderr } = await runProgram(
    `import path from 'node:path';
    import { readdirSync, readlinkSync } from 'node:fs';
    import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
    import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
    const { NixlInstrumentation } = await import(${JSON.stringify(dist('index.js'))});
    const { RingWriter } = await import(${JSON.stringify(dist('rings.js'))});
    const [directory, url] = arg;
    const exporter = new OTLPMetricExporter({ url, temporalityPreference: 0 });
    const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3600000 })] });
    const instrumentation = new NixlInstrumentation({ directories: directory });
    instrumentation.setMeterProvider(provider);
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
    await provider.forceFlush();
    for (let i = 0; i < 100; i++) writer.push({ type: 6, value: 10 });
    await provider.shutdown();
    writer.close();
    const open = () => readdirSync('/proc/self/fd').some((fd) => {
      try { return readlinkSync('/proc/self/fd/' + fd).startsWith(directory); } catch { return false; }
    });
    while (open()) await new Promise((resolve) => setTimeout(resolve, 20));
  `,
    [directory, receiver.url],
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const counts = receiver
    .points()
    .filter(({ metric }) => metric === 'agent_xfer_time_us')
    .map(({ histogram }) => histogram!.buckets.reduce((sum, count) => sum + count, 0));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(100);
});

test("a service's own producer and /register: each series once, one warning, and the rings that the other omits", async () => {
  const [both, other] = [temporaryDirectory(), temporaryDirectory()];
  // Open, so that their lock shows their life where processes cannot be seen.
  const writers = [both, other].map((directory) => {
    const writer = new RingWriter(path.join(directory, path.basename(directory)), { wireVersion: 4 });
    for (let i = 0; i < 5; i++) writer.push({ type: 0, value: 1n });
    return writer;
  });
  const result = await resultOf<{ sums: number[]; twice: string[]; ticks: number; lines: string[]; after: number }>(
    `${PRELUDE}
    const producer = new NixlMetricProducer({ directories: arg[0] });
    const reader = new Reader(CUMULATIVE, [producer]);
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    const instrumentation = new NixlInstrumentation({ directories: arg });
    await until(async () => (await reader.sum('agent_tx_bytes_total')) === 10);
    const all = await reader.metrics();
    const points = all.flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes }) => descriptor.name + JSON.stringify(attributes)));
    const twice = points.filter((one, i) => points.indexOf(one) !== i);
    const sums = [await reader.sum('agent_tx_bytes_total')];
    const ticks = all.filter(({ descriptor }) => descriptor.name === 'nixl.collector.ticks').length;
    producer.close();
    const after = await reader.sum('agent_tx_bytes_total');
    instrumentation.disable();
    console.log(JSON.stringify({ sums, twice, ticks, lines, after }));
  `,
    [both, other],
  );
  for (const writer of writers) writer.close();
  expect(result).toMatchObject({ sums: [10], twice: [], ticks: 1, after: 10 });
  expect(result.lines).toHaveLength(1);
  expect(result.lines[0]).toContain(`NixlMetricProducer on ${both}, and NixlInstrumentation on ${both}, ${other}`);
});
