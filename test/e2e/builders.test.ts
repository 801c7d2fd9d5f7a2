/** Custom metrics over real rings: builders, declared events, records, and their costs. */
import { join } from 'node:path';
import { type Counter, createNoopMeter, diag, DiagLogLevel, type Meter } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type AgentEvent,
  type CustomEvent,
  type EventGain,
  type MetricBuilder,
  MetricProcessor,
  NixlInstrumentation,
  NixlMetricProducer,
  type NixlMetricProducerOptions,
} from '../../src/index.js';
import { RingWriter } from '../../src/rings.js';
import { addon } from '../../src/shm-bridge/addon.js';
import { ManualReader, metricsIn, pointsIn, providerWith, scrape } from '../instrumentation/readers.js';
import { allDrained, temporaryDirectory } from '../support/live.js';
import { startOtlpReceiver } from '../support/otlp-receiver.js';

afterEach(() => {
  vi.restoreAllMocks();
  diag.disable();
});

/** Makes a producer that has drained the present events. */
async function producerOn(directory: string, options: NixlMetricProducerOptions = {}): Promise<NixlMetricProducer> {
  const producer = new NixlMetricProducer({ directories: directory, hostname: 'h', ...options });
  onTestFinished(() => producer.close());
  await allDrained(directory);
  return producer;
}

function ring(wireVersion: number, capacity = 4096, name = 'prefill-0'): { directory: string; writer: RingWriter } {
  const directory = temporaryDirectory();
  return { directory, writer: new RingWriter(join(directory, name), { wireVersion, capacity }) };
}

/** Custom builder that counts failures by status. */
class Failures implements MetricBuilder {
  readonly name = 'failures';
  readonly seen: AgentEvent[] = [];
  readonly gained: EventGain[] = [];
  #counter: Counter | undefined;

  create(meter: Meter): void {
    this.#counter = meter.createCounter('team.failures');
  }

  take(events: readonly AgentEvent[]): void {
    this.seen.push(...events);
    for (const { event, value, attributes } of events) {
      if (event.startsWith('agent_err_')) this.#counter!.add(value, attributes);
    }
  }

  observe(gains: readonly EventGain[]): void {
    this.gained.push(...gains);
  }
}

const ATTRIBUTES = [{ name: 'role', source: { pattern: '^(?<role>\\w+)-', group: 'role' } }] as const;

describe('a custom builder', () => {
  it('gets every event, exactly and in order, and the gains of each kind of event', async () => {
    const { directory, writer } = ring(1);
    const big = 2n ** 64n - 1n;
    writer.push({ name: 'agent_tx_bytes', category: 1, value: big, timestampUs: 1_500n });
    writer.push({ name: 'own "event"', category: 3, value: 7, timestampUs: 2_000n });
    const failures = new Failures();
    const producer = await producerOn(directory, { builders: [failures], attributes: ATTRIBUTES });
    await producer.collect();
    const about = { agent: 'prefill-0', attributes: { role: 'prefill' } };
    const tx = { ...about, event: 'agent_tx_bytes', category: 'NIXL_TELEMETRY_TRANSFER' };
    const own = { ...about, event: 'own "event"', category: 'NIXL_TELEMETRY_BACKEND' };
    expect(failures.seen).toEqual([
      { ...tx, value: Number(big), exact: big, timeMs: 1.5 },
      { ...own, value: 7, exact: 7n, timeMs: 2 },
    ]);
    expect(failures.gained).toEqual([
      { ...tx, count: 1, sum: big },
      { ...own, count: 1, sum: 7n },
    ]);
    writer.push({ name: 'own "event"', category: 3, value: 1 });
    await allDrained(directory);
    await producer.collect();
    expect(failures.gained.slice(2)).toEqual([{ ...own, count: 1, sum: 1n }]);
    expect(failures.seen).toHaveLength(3);
  });

  it('reaches Prometheus and OTLP with an attribute, each added in one place', async () => {
    const { directory, writer } = ring(4);
    writer.push({ type: 10, value: 1 });
    writer.push({ type: 19, value: 2 });
    const options = { attributes: ATTRIBUTES, builders: ['nixl' as const, new Failures()] };
    const producer = await producerOn(directory, options);
    const page = await scrape(producer);
    expect(page).toMatch(/^team_failures_total\{role="prefill"\} 3$/m);
    expect(page).toMatch(
      /^agent_errors_total\{.*status="backend".*role="prefill".*\} 1$|^agent_errors_total\{.*role="prefill".*status="backend".*\} 1$/m,
    );

    const receiver = await startOtlpReceiver();
    const exporter = new OTLPMetricExporter({ url: receiver.url });
    const reader = new PeriodicExportingMetricReader({ exporter, metricProducers: [producer] });
    const provider = providerWith(reader);
    await provider.shutdown();
    const mine = receiver.points().find(({ metric }) => metric === 'team.failures');
    expect(mine).toMatchObject({ value: 3, attributes: { role: 'prefill' } });
  });

  it('that throws is reported once, and the others continue', async () => {
    const errors: string[] = [];
    const logger = {
      error: (...line: unknown[]) => errors.push(line.join(' ')),
      warn() {},
      info() {},
      debug() {},
      verbose() {},
    };
    diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    const { directory, writer } = ring(4);
    const broken: MetricBuilder = {
      name: 'broken',
      create() {},
      take() {
        throw new Error('not today');
      },
    };
    const failures = new Failures();
    const producer = await producerOn(directory, { builders: [broken, failures, 'nixl'] });
    for (let i = 0; i < 3; i++) {
      writer.push({ type: 8, value: 1 });
      await allDrained(directory);
      await producer.collect();
    }
    expect(failures.seen).toHaveLength(3);
    expect(pointsIn(await producer.collect(), 'agent_errors_total')).not.toEqual([]);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('builder broken: take() failed: not today');
  });

  it('that rejects is reported once, and the others continue', async () => {
    const errors: string[][] = [];
    const onError = (...line: string[]): void => void errors.push(line);
    const calls: string[] = [];
    const rejects = (call: string) => async (): Promise<void> => {
      calls.push(call);
      await Promise.reject(new Error(`${call} is out`));
    };
    const failing = { name: 'late', create() {}, observe: rejects('observe'), close: rejects('close') };
    const never = { name: 'never', create: rejects('create'), process: rejects('process') };
    const failures = new Failures();
    const processor = new MetricProcessor({ builders: [failing, never, failures], onError });
    processor.useMeter(createNoopMeter());
    await expect.poll(() => errors).toEqual([['never', 'create() failed: create is out']]);
    for (let i = 0; i < 3; i++) processor.observe([]);
    processor.process({ action: 'x' });
    processor.close();
    await expect.poll(() => errors.slice(1)).toEqual([['late', 'observe() failed: observe is out']]);
    // A builder that could not make its instruments is not called again.
    expect(calls).toEqual(['create', 'observe', 'observe', 'observe', 'close']);
  });

  it('can be added later, and leaves nothing behind', async () => {
    const { directory, writer } = ring(4);
    const producer = new NixlMetricProducer({ directories: directory });
    await producer.collect();
    const failures = new Failures();
    producer.processor.addBuilder(failures);
    await producer.collect();
    writer.push({ type: 8, value: 5 });
    await expect.poll(async () => pointsIn(await producer.collect(), 'team.failures')[0]?.value).toBe(5);
    producer.close();
    writer.push({ type: 8, value: 5 });
    expect(failures.seen).toHaveLength(1);
  });

  it("works in the instrumentation, on the service's meter", async () => {
    const { directory, writer } = ring(4);
    writer.push({ type: 8, value: 4 });
    const reader = new ManualReader();
    const failures = new Failures();
    const one = new NixlInstrumentation({
      directories: directory,
      builders: ['nixl', failures],
      attributes: ATTRIBUTES,
    });
    onTestFinished(() => one.disable());
    one.setMeterProvider(providerWith(reader));
    await expect
      .poll(async () => (await reader.points('team.failures'))[0])
      .toMatchObject({
        value: 4,
        attributes: { role: 'prefill' },
      });
    expect(await reader.points('nixl.agent.up')).toEqual([]);
    one.disable();
    expect(failures.seen).toHaveLength(1);
  });
});

describe('several readers of one instrumentation', () => {
  it('all have the builders, each in its own temporality', async () => {
    const { directory, writer } = ring(4);
    const failures = new Failures();
    const builders = ['nixl' as const, failures, 'records' as const];
    const one = new NixlInstrumentation({ directories: directory, builders });
    onTestFinished(() => one.disable());
    const [cumulative, delta] = [one.metricProducer(), one.metricProducer({ temporality: 'delta' })];
    const values = async (producer: NixlMetricProducer): Promise<unknown[]> => {
      const result = await producer.collect();
      return ['team.failures', 'agent_errors_total'].map((name) =>
        pointsIn(result, name).reduce((sum, { value }) => sum + (value as number), 0),
      );
    };
    writer.push({ type: 8, value: 2 });
    await expect.poll(() => values(cumulative)).toEqual([2, 2]);
    expect(await values(delta)).toEqual([2, 2]);
    writer.push({ type: 9, value: 3 });
    await expect.poll(() => values(cumulative)).toEqual([5, 5]);
    expect(await values(delta)).toEqual([3, 3]);
    expect(one.processor.process({ action: 'x' })).toBe(true);
    expect(failures.seen).toHaveLength(2);
  });
});

describe('the count of events for builders', () => {
  it('continues when the instrumentation stops and starts again', async () => {
    const { directory, writer } = ring(4);
    const failures = new Failures();
    const config = { directories: directory, builders: ['nixl' as const, failures] };
    const one = new NixlInstrumentation(config);
    onTestFinished(() => one.disable());
    const producer = one.metricProducer();
    const delivered = async (): Promise<unknown> => {
      const points = pointsIn(await producer.collect(), 'nixl.builders.events');
      return points.find(({ attributes }) => attributes['outcome'] === 'delivered')?.value;
    };
    writer.push({ type: 8, value: 1 });
    await expect.poll(delivered).toBe(1);
    one.disable();
    one.enable();
    writer.push({ type: 8, value: 1 });
    await expect.poll(delivered).toBe(2);
    one.setConfig({ ...config, deadTtlMs: 1000 });
    await expect.poll(delivered).toBe(2);
    writer.push({ type: 8, value: 1 });
    await expect.poll(delivered).toBe(3);
    expect(failures.seen).toHaveLength(3);
  });

  it('includes events for builders that are added later', async () => {
    const { directory, writer } = ring(4);
    const producer = await producerOn(directory, { builders: ['comprehensive'] }); // this builder needs the meter at once
    await producer.collect();
    producer.processor.addBuilder(new Failures());
    await producer.collect();
    writer.push({ type: 8, value: 1 });
    const values = async (): Promise<unknown[]> =>
      pointsIn(await producer.collect(), 'nixl.builders.events').map(({ value }) => value);
    await expect.poll(values).toEqual([1, 0]);
  });
});

describe('the cost of builders', () => {
  it('is 0 without builders: no event crosses to JavaScript', async () => {
    const { directory, writer } = ring(4, 65_536);
    const crossings = (['takeEvents', 'takeTapped'] as const).map((name) => vi.spyOn(addon(), name));
    const producer = await producerOn(directory);
    for (let i = 0; i < 60_000; i++) writer.push({ type: 0, value: 1 });
    await expect.poll(async () => pointsIn(await producer.collect(), 'agent_tx_bytes_total')[0]?.value).toBe(60_000);
    for (const crossing of crossings) expect(crossing).not.toHaveBeenCalled();
  });

  it('never changes the metrics: they are exact if the queue overflows, and the loss is reported', async () => {
    const { directory, writer } = ring(4, 262_144);
    const events = 200_000;
    for (let i = 0; i < events; i++) expect(writer.push({ type: 0, value: 3 })).toBe(true);
    const failures = new Failures();
    const producer = await producerOn(directory, { builders: ['nixl', failures] });
    const result = await producer.collect();
    expect(pointsIn(result, 'agent_tx_bytes_total')[0]?.value).toBe(3 * events);
    expect(failures.gained).toMatchObject([{ event: 'agent_tx_bytes', count: events }]);
    await expect
      .poll(async () => {
        const points = pointsIn(await producer.collect(), 'nixl.builders.events');
        return points.map(({ attributes, value }) => [attributes['outcome'], value]);
      })
      .toEqual([
        ['delivered', failures.seen.length],
        ['lost', events - failures.seen.length],
      ]);
    expect(failures.seen.length).toBeLessThan(events);
  });

  it('is bounded for a backend with a new name for every event', async () => {
    const warnings: string[] = [];
    const logger = {
      error() {},
      warn: (...line: unknown[]) => warnings.push(line.join(' ')),
      info() {},
      debug() {},
      verbose() {},
    };
    diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
    const { directory, writer } = ring(1, 16_384);
    for (let i = 0; i < 10_000; i++) writer.push({ name: `made-up-${i}`, category: 3, value: 1 });
    const producer = await producerOn(directory, { series: 'full' });
    const points = pointsIn(await producer.collect(), 'nixl.events');
    expect(points).toHaveLength(257);
    const overflow = points.find(({ attributes }) => attributes['event'] === 'overflow');
    expect(overflow?.value).toBe(10_000 - 256);
    await producer.collect();
    expect(warnings.filter((line) => line.includes('more than 256 unknown kinds'))).toHaveLength(1);
  });
});

describe('declared events', () => {
  const customEvents: CustomEvent[] = [
    { event: 'queue_depth', kind: 'gauge', name: 'backend.queue.depth', unit: '{request}' },
    {
      event: 'retry_*',
      category: 'BACKEND',
      kind: 'counter',
      name: { nixl: 'backend_retries', otel: 'backend.retries' },
    },
    { event: 'stage_us', kind: 'histogram', name: 'backend.stage', bounds: [10, 100] },
    { event: 'open_handles', kind: 'updowncounter', name: 'backend.handles' },
  ];

  it('have custom metrics, by name and by glob', async () => {
    const { directory, writer } = ring(1);
    const push = (name: string, value: bigint | number, category = 3): void => {
      writer.push({ name, category, value });
    };
    for (const value of [3, 9]) push('queue_depth', value);
    for (const name of ['retry_tcp', 'retry_rdma', 'retry_tcp']) push(name, 2);
    push('retry_tcp', 5, 7); // another category is another event
    for (const value of [10, 11, 1000]) push('stage_us', value);
    for (const value of [1n, 1n, 2n ** 64n - 1n, 2n ** 64n - 3n]) push('open_handles', value);
    const result = await (await producerOn(directory, { customEvents })).collect();
    expect(pointsIn(result, 'backend.queue.depth')).toMatchObject([{ value: 9 }]);
    const retries = pointsIn(result, 'backend_retries').map(({ attributes, value }) => [attributes['event'], value]);
    expect(retries).toEqual([
      ['retry_tcp', 4],
      ['retry_rdma', 2],
    ]);
    expect(pointsIn(result, 'backend.stage')).toMatchObject([
      { value: { buckets: { boundaries: [10, 100], counts: [1, 1, 1] }, count: 3, sum: 1021 } },
    ]);
    expect(pointsIn(result, 'backend.handles')).toMatchObject([{ value: -2 }]);
  });

  it('may be type numbers', async () => {
    const { directory, writer } = ring(4);
    for (const value of [4, 5]) writer.push({ type: 77, value });
    const events: CustomEvent[] = [{ event: 77, kind: 'counter', name: 'backend.seventy_seven' }];
    const page = await scrape(await producerOn(directory, { customEvents: events }));
    expect(page).toMatch(/^backend_seventy_seven_total\{.*event="type_77".*\} 9$/m);
  });

  it('and single histograms have their configured bounds', async () => {
    const { directory, writer } = ring(4);
    for (const type of [7, 6]) writer.push({ type, value: 60 });
    writer.push({ type: 0, value: 1 });
    writer.push({ type: 2, value: 1 });
    const histogramBounds = { agent_xfer_time: [50, 70] };
    const result = await (await producerOn(directory, { series: 'full', histogramBounds })).collect();
    const boundaries = (name: string): unknown =>
      (pointsIn(result, name)[0]?.value as { buckets: { boundaries: number[] } }).buckets.boundaries;
    expect(boundaries('agent_xfer_time_us')).toEqual([50, 70]);
    expect(boundaries('agent_xfer_post_time_us')).toContain(2500);
    expect(boundaries('nixl.transfer.directed.duration')).toEqual([50e-6, 70e-6]);
  });
});

describe('the built-in builders', () => {
  it('are the only ones when they are named', async () => {
    const { directory, writer } = ring(4);
    writer.push({ type: 0, value: 1 });
    const metrics = metricsIn(await (await producerOn(directory, { builders: ['transfers', 'nixl'] })).collect());
    const names = metrics.map(({ descriptor }) => descriptor.name).filter((name) => !name.startsWith('nixl.collector'));
    expect(names[0]).toBe('nixl.transfer.size');
    expect(names).toContain('agent_tx_bytes_total');
    expect(names).not.toContain('nixl.events');
  });

  it('report transfer times', async () => {
    const { directory, writer } = ring(4);
    const producer = await producerOn(directory, { builders: ['time'] });
    const value = async (name: string): Promise<unknown> => pointsIn(await producer.collect(), name)[0]?.value;
    writer.push({ type: 6, value: 1_500_000 });
    await expect.poll(() => value('nixl.time.transfer')).toBe(1.5);
    expect(await value('nixl.time.today')).toBe(1.5);
    expect(await value('nixl.time.busy')).toBe(0);
  });

  it('count everything with all attributes, or with all of them in the name', async () => {
    const { directory, writer } = ring(4);
    for (let i = 0; i < 3; i++) writer.push({ type: 0, value: 9 });
    const attributes = [...ATTRIBUTES, { name: 'site', source: { constant: 'Lab 1' }, order: 1 }];
    const builders = ['comprehensive' as const, 'comprehensive_names' as const];
    const result = await (await producerOn(directory, { builders, attributes })).collect();
    const [point] = pointsIn(result, 'nixl.comprehensive.events');
    const event = { category: 'NIXL_TELEMETRY_TRANSFER', event: 'agent_tx_bytes' };
    expect(point).toMatchObject({ value: 3, attributes: { site: 'lab_1', role: 'prefill', ...event } });
    const name = 'nixl.comprehensive.events.lab_1.prefill.nixl_telemetry_transfer.agent_tx_bytes';
    expect(pointsIn(result, name)).toMatchObject([{ value: 3 }]);
  });

  it('make at most 256 names', async () => {
    const { directory, writer } = ring(1, 16_384);
    for (let i = 0; i < 1000; i++) writer.push({ name: `e${i}`, category: 3, value: 1 });
    const attributes = [{ name: 'id', source: { record: 'id' } }] as const;
    const producer = await producerOn(directory, { builders: ['comprehensive_names'], attributes });
    for (let id = 0; id < 1000; id++) producer.processor.process({ id });
    const metrics = metricsIn(await producer.collect()).filter(({ descriptor }) =>
      descriptor.name.startsWith('nixl.comprehensive'),
    );
    expect(metrics).toHaveLength(256);
    const total = metrics.reduce((sum, { dataPoints }) => sum + (dataPoints[0]!.value as number), 0);
    expect(total).toBe(2000);
  });
});

describe('records', () => {
  const GPUS = ['NVIDIA A100', 'NVIDIA A100', 'NVIDIA V100'];
  const train = { action: 'train', network: 'ResNet-50', version: '1.2', gpu: GPUS, time_lapsed: 10 };

  it('are counted through the same attributes, in any exporter', async () => {
    const { directory } = ring(4);
    const attributes = [{ name: 'gpus', source: 'gpu_identifier' }] as const;
    const producer = await producerOn(directory, { attributes });
    const { processor } = producer;
    expect(processor.process({ ...train, success: true })).toBe(true);
    expect(processor.process({ ...train, success: false })).toBe(true);
    expect(processor.process({ ...train, success: false, user_error: true })).toBe(true);
    expect(processor.process({ action: 'eval', success: true })).toBe(true);
    expect(processor.process(null as never)).toBe(false);
    expect(new MetricProcessor({ builders: ['nixl'] }).process({ action: 'eval' })).toBe(false);
    const page = await scrape(producer);
    const gpus = 'gpus="3_NVIDIA_A100_2_NVIDIA_V100_1"';
    for (const outcome of ['pass', 'fail', 'user_error']) {
      expect(page).toContain(`nixl_records_total{${gpus},action="train",outcome="${outcome}"} 1\n`);
    }
    expect(page).toContain('nixl_records_total{action="eval",outcome="pass"} 1\n');
    expect(page).toContain(`nixl_records_versions_total{${gpus},action="train",outcome="pass",version="1.2"} 1\n`);
    expect(page).toContain(
      `nixl_records_networks_total{${gpus},action="train",outcome="pass",network="resnet_50"} 1\n`,
    );
    expect(page).toContain(`nixl_records_gpus_total{${gpus},gpu="NVIDIA_A100"} 6\n`);
    expect(page).toContain(`nixl_records_gpu_time_total{${gpus},gpu="NVIDIA_V100"} 30\n`);
    expect(page).toContain(`nixl_records_time_total{${gpus},action="train"} 30\n`);
  });

  it('wait in any number for a meter that is being made', async () => {
    const producer = await producerOn(ring(4).directory, {});
    for (let i = 0; i < 5000; i++) expect(producer.processor.process({ action: 'eval', success: true })).toBe(true);
    expect(pointsIn(await producer.collect(), 'nixl.records')).toMatchObject([{ value: 5000 }]);
  });

  it('need no rings, and wait for the meter', async () => {
    const processor = new MetricProcessor({ builders: ['records'] });
    for (let i = 0; i < 1024; i++) expect(processor.process(train)).toBe(true);
    expect(processor.process(train)).toBe(false);
    const reader = new ManualReader();
    processor.useMeter(providerWith(reader).getMeter('job'));
    expect(await reader.points('nixl.records')).toMatchObject([{ value: 1024 }]);
  });
});
