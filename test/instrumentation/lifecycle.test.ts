import { type MeterProvider as ApiMeterProvider, metrics } from '@opentelemetry/api';
import { describe, expect, it, vi } from 'vitest';
import { Inside } from '../../src/ground/inside.js';
import { NixlTelemetryError } from '../../src/ground/errors.js';
import { NixlInstrumentation } from '../../src/index.js';
import { LONG_WAIT_MS } from '../../src/instrumentation/meter-providers.js';
import { NO_READER } from '../../src/instrumentation/reporting.js';
import { callbacksOf, instrumentation, log, NOOP_PROVIDER, opener } from './harness.js';
import { agentSnapshot } from './in-memory-source.js';
import { ManualReader, ofAnotherMake, providerWith, valuesOf } from './readers.js';

describe('the instrumentation leaves nothing behind', () => {
  it('when the provider is set a hundred times', () => {
    const providers = Array.from({ length: 5 }, () => providerWith(new ManualReader()));
    const one = instrumentation();
    for (let i = 0; i < 100; i++) one.setMeterProvider(ofAnotherMake(providers[i % 5]!));
    expect(providers.map(callbacksOf)).toEqual([0, 0, 0, 0, 1]);
    expect(opener.opened).toHaveLength(1);
    expect(opener.last.taps.filter(({ closed }) => !closed)).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(2); // of problems, and of time by size
  });

  it('continues when the same MeterProvider is set again', () => {
    const provider = providerWith(new ManualReader());
    const one = instrumentation();
    for (let i = 0; i < 100; i++) one.setMeterProvider(ofAnotherMake(provider));
    expect(callbacksOf(provider)).toBe(1);
    expect(opener.last.taps).toHaveLength(1);
  });

  it('when it is disabled, and starts again when it is enabled', async () => {
    const reader = new ManualReader();
    const provider = providerWith(reader);
    const one = instrumentation();
    one.setMeterProvider(ofAnotherMake(provider));
    for (let i = 0; i < 100; i++) {
      one.disable();
      expect([callbacksOf(provider), opener.open.length, vi.getTimerCount()]).toEqual([0, 0, 0]);
      one.enable();
      expect([callbacksOf(provider), opener.open.length, vi.getTimerCount()]).toEqual([1, 1, 1]);
    }
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' })];
    expect(await reader.points('nixl.agent.up')).toHaveLength(1);
  });

  it('when a no-op provider replaces a real one', () => {
    const provider = providerWith(new ManualReader());
    const one = instrumentation();
    one.setMeterProvider(ofAnotherMake(provider));
    one.setMeterProvider(NOOP_PROVIDER);
    expect([callbacksOf(provider), opener.open.length]).toEqual([0, 0]);
  });

  it('when the meter throws', () => {
    const broken = {
      getMeter: () => ({
        createObservableCounter() {
          throw new Error('broken');
        },
      }),
    } as unknown as ApiMeterProvider;
    instrumentation().setMeterProvider(broken);
    expect(log).toEqual([{ level: 'error', message: 'NIXL telemetry could not be set up: broken' }]);
  });
});

describe('without a real provider, the instrumentation', () => {
  it('does not drain the rings', () => {
    instrumentation();
    vi.advanceTimersByTime(10_000);
    expect(opener.opened).toEqual([]);
  });

  it('warns once after half a minute, by the log or as its maker says', () => {
    const messages: string[] = [];
    instrumentation();
    instrumentation({}, { onNoReader: (message) => messages.push(message) });
    vi.advanceTimersByTime(LONG_WAIT_MS - 1);
    expect([log, messages]).toEqual([[], []]);
    vi.advanceTimersByTime(10 * LONG_WAIT_MS);
    expect([log, messages]).toEqual([[{ level: 'warn', message: NO_READER }], [NO_READER]]);
  });

  it('does not warn after a MeterProvider has come, also when it is shut down', async () => {
    const provider = providerWith(new ManualReader());
    instrumentation();
    vi.advanceTimersByTime(LONG_WAIT_MS - 1000);
    metrics.setGlobalMeterProvider(provider);
    vi.advanceTimersByTime(LONG_WAIT_MS);
    expect(opener.open).toHaveLength(1);
    await provider.shutdown();
    vi.advanceTimersByTime(10 * LONG_WAIT_MS);
    expect(opener.open).toEqual([]);
    expect(log).toEqual([]);
  });

  it('does not warn if OTEL_SDK_DISABLED says that there is none', () => {
    vi.stubEnv('OTEL_SDK_DISABLED', 'TRUE');
    instrumentation();
    vi.advanceTimersByTime(2 * LONG_WAIT_MS);
    expect(log).toEqual([]);
  });

  it('looks up the global provider repeatedly until it finds one', async () => {
    const one = instrumentation();
    one.setMeterProvider(NOOP_PROVIDER);
    const reader = new ManualReader();
    opener.agents = [agentSnapshot({ id: 1, agent: 'a' })];
    metrics.setGlobalMeterProvider(providerWith(reader));
    expect(opener.opened).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(await reader.points('nixl.agent.up')).toHaveLength(1);
  });

  it('uses the global provider at once if it gets a no-op one instead', () => {
    metrics.setGlobalMeterProvider(providerWith(new ManualReader()));
    const one = instrumentation();
    expect(opener.open).toHaveLength(1);
    one.setMeterProvider(NOOP_PROVIDER);
    expect(opener.open).toHaveLength(1);
  });
});

describe('enabling', () => {
  it('happens at construction unless the config says otherwise', () => {
    metrics.setGlobalMeterProvider(providerWith(new ManualReader()));
    const one = instrumentation({ enabled: false });
    expect([one.isEnabled(), one.getConfig().enabled, opener.opened.length]).toEqual([false, false, 0]);
    one.enable();
    expect([one.isEnabled(), opener.opened.length]).toEqual([true, 1]);
    expect(instrumentation().getConfig()).toMatchObject({ enabled: true, directories: '/rings' });
  });

  it('does not happen in setConfig()', () => {
    metrics.setGlobalMeterProvider(providerWith(new ManualReader()));
    const one = instrumentation({ enabled: false });
    one.setConfig({ directories: '/other' });
    expect([one.isEnabled(), one.getConfig().enabled, opener.opened.length]).toEqual([false, true, 0]);
  });
});

describe('setConfig', () => {
  it('takes effect at once', () => {
    metrics.setGlobalMeterProvider(providerWith(new ManualReader()));
    const one = instrumentation();
    one.setConfig({ directories: '/other' });
    expect(opener.options.map(({ directories }) => directories)).toEqual([['/rings'], ['/other']]);
    expect(opener.open).toHaveLength(1);
  });

  it('without a change leaves the rings open', () => {
    metrics.setGlobalMeterProvider(providerWith(new ManualReader()));
    instrumentation().setConfig({ directories: ['/rings'], hostname: 'h', series: 'full' });
    expect(opener.opened).toHaveLength(1);
  });

  it('closes builders that it replaces, and only those', async () => {
    const reader = new ManualReader();
    metrics.setGlobalMeterProvider(providerWith(reader));
    const created: string[] = [];
    const closed: string[] = [];
    const builder = (name: string) => ({
      name,
      create: () => void created.push(name),
      close: () => void closed.push(name),
    });
    const [kept, replaced] = [builder('kept'), builder('replaced')];
    const one = instrumentation({ builders: [kept, replaced] });
    one.processor.addBuilder(builder('added'));
    await reader.collect(); // waits for the meter of the builders
    expect(created).toEqual(['kept', 'replaced', 'added']);
    one.setConfig({ directories: '/rings', builders: [kept] });
    expect(closed).toEqual(['replaced', 'added']);
    one.metricProducer(); // keeps its builders
    one.setConfig({ directories: '/rings' });
    expect(closed).toEqual(['replaced', 'added']);
  });

  it('creates no builders that it replaced before they had a meter', async () => {
    const reader = new ManualReader();
    metrics.setGlobalMeterProvider(providerWith(reader));
    const calls: string[] = [];
    const builder = (name: string) => ({
      name,
      create: () => void calls.push(`${name} created`),
      close: () => void calls.push(`${name} closed`),
    });
    const one = instrumentation({ builders: [builder('replaced')] });
    one.setConfig({ directories: '/rings', builders: [builder('kept')] });
    await reader.collect();
    expect(calls).toEqual(['kept created']);
  });

  it('throws nothing into the service: a wrong option is reported, and the previous ones stay in force', () => {
    const one = instrumentation();
    one.setConfig({ naming: 'mine' } as never);
    expect(log).toEqual([{ level: 'error', message: expect.stringMatching(/setConfig.*naming is "mine"/) as string }]);
    expect(one.getConfig()).toMatchObject({ directories: '/rings' });
  });

  it('with a wrong option at construction throws', () => {
    expect(() => new NixlInstrumentation({ naming: 'mine' } as never)).toThrow(/naming is "mine"/);
  });
});

describe('a service must start without this telemetry:', () => {
  it('nothing configured is one warning', () => {
    vi.stubEnv('NIXL_TELEMETRY_DIR', '');
    metrics.setGlobalMeterProvider(providerWith(new ManualReader()));
    const one = new NixlInstrumentation({}, new Inside({ openSource: opener.openSource }));
    one.setMeterProvider(providerWith(new ManualReader()));
    expect(log).toEqual([
      { level: 'warn', message: expect.stringMatching(/directories.*NIXL_TELEMETRY_DIR/) as string },
    ]);
    expect(opener.opened).toEqual([]);
    one.disable();
  });

  it('a missing addon is one error', () => {
    const openSource = () => {
      throw new NixlTelemetryError('ADDON_MISSING', 'no addon for this platform');
    };
    const one = instrumentation({}, { openSource });
    for (let i = 0; i < 3; i++) one.setMeterProvider(providerWith(new ManualReader()));
    expect(log).toEqual([{ level: 'error', message: 'NIXL telemetry is off: no addon for this platform' }]);
  });
});

describe('producers of the instrumentation', () => {
  it('share its source and disable its own instruments, so that nothing is reported twice', async () => {
    opener.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n], 6: [10n] })];
    const one = instrumentation();
    const readers = [
      new ManualReader(undefined, [one.metricProducer()]),
      new ManualReader(undefined, [one.metricProducer()]),
    ];
    const provider = providerWith(...readers);
    one.setMeterProvider(provider);
    for (const reader of readers) {
      const names = (await reader.metrics()).map(({ descriptor }) => descriptor.name);
      expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
      expect(await reader.points('agent_tx_bytes_total')).toMatchObject([{ value: 5 }]);
      expect(await reader.points('agent_xfer_time_us')).toMatchObject([{ value: { count: 1, sum: 10 } }]);
    }
    expect(callbacksOf(provider)).toBe(0);
    expect(opener.opened).toHaveLength(1);
    expect(opener.last.taps).toEqual([]);
    expect(log).toEqual([]);
  });

  it('can differ in naming and temporality', async () => {
    opener.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 0: [5n] })];
    const reader = new ManualReader(undefined, [
      instrumentation().metricProducer({ naming: 'otel', temporality: 'delta' }),
    ]);
    providerWith(reader);
    expect(valuesOf(await reader.points('nixl.transfer.io'), 'nixl.transfer.direction')).toEqual({
      transmit: 5,
      receive: 0,
    });
    expect(valuesOf(await reader.points('nixl.transfer.io'), 'nixl.transfer.direction')).toEqual({
      transmit: 0,
      receive: 0,
    });
  });

  it('are empty while the instrumentation is disabled, and do not close its source', async () => {
    opener.agents = [agentSnapshot({ id: 1, agent: 'a' })];
    const one = instrumentation();
    const producer = one.metricProducer();
    one.disable();
    expect((await producer.collect()).resourceMetrics.scopeMetrics).toEqual([]);
    one.enable();
    expect((await producer.collect()).resourceMetrics.scopeMetrics).toHaveLength(1);
    producer.close();
    expect(opener.last.closed).toBe(false);
  });

  it('are empty, and no error, when there are no rings to read', async () => {
    vi.stubEnv('NIXL_TELEMETRY_DIR', '');
    const producer = new NixlInstrumentation({}).metricProducer();
    expect(await producer.collect()).toMatchObject({ errors: [], resourceMetrics: { scopeMetrics: [] } });
  });

  it('cause a warning when they are taken too late', () => {
    const provider = providerWith(new ManualReader());
    const one = instrumentation();
    one.setMeterProvider(ofAnotherMake(provider));
    one.metricProducer();
    expect(callbacksOf(provider)).toBe(0);
    expect(log).toEqual([
      { level: 'warn', message: expect.stringMatching(/after the MeterProvider was set/) as string },
    ]);
  });

  it("refuse options that are the source's", () => {
    expect(() => instrumentation().metricProducer({ directories: '/d' } as never)).toThrow(
      /unknown option "directories"/,
    );
  });
});
