/** Producers that the instrumentation adds to the readers of an SDK's MeterProvider. */
import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  AggregationType,
  type DataPoint,
  type Histogram,
  InstrumentType,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { callbacksOf, fallbacks, instrumentation, log, opener } from './harness.js';
import { agentSnapshot } from './in-memory-source.js';
import { ManualReader, ofAnotherMake, producerOn, providerWith } from './readers.js';

const BYTES = 'agent_tx_bytes_total';
const WATCH_MS = 1000;

interface Fields {
  _metricProducers: MetricProducer[];
}
const producersOf = (reader: ManualReader): MetricProducer[] => (reader as unknown as Fields)._metricProducers;

/** Returns all values of the metric; for histograms, their counts. */
async function values(reader: ManualReader, name = BYTES): Promise<number[]> {
  const points = (await reader.points(name)) as DataPoint<number | Histogram>[];
  return points.map(({ value }) => (typeof value === 'number' ? value : value.count));
}

function sent(id: number, bytes: bigint, about = {}) {
  return agentSnapshot({ id, agent: 'a', ...about }, { 0: [bytes], 6: [10n] });
}

function deltaReader(): ManualReader {
  return new ManualReader(AggregationTemporality.DELTA);
}

afterEach(() => expect(log.filter(({ level }) => level === 'error')).toEqual([]));

describe("with an SDK's MeterProvider, the instrumentation", () => {
  it('adds a producer to each reader, which reports the same as NixlMetricProducer', async () => {
    opener.agents = [sent(1, 5n)];
    const readers = [new ManualReader(), deltaReader()];
    const provider = providerWith(...readers);
    instrumentation().setMeterProvider(provider);
    const own = producerOn(opener.last);
    const plain = new ManualReader(undefined, [own]);
    providerWith(plain);
    const expected = (await plain.metrics()).map(({ descriptor }) => descriptor.name);
    for (const reader of readers) {
      const names = (await reader.metrics()).map(({ descriptor }) => descriptor.name);
      expect(names).toEqual(expected);
      expect(names).toContain('nixl.transfer.size');
    }
    expect(callbacksOf(provider)).toBe(0);
    expect(opener.last.taps).toEqual([]);
  });

  it("keeps to each reader's temporality", async () => {
    opener.agents = [sent(1, 5n)];
    const [cumulative, delta] = [new ManualReader(), deltaReader()];
    instrumentation().setMeterProvider(providerWith(cumulative, delta));
    expect([await values(cumulative), await values(delta)]).toEqual([[5], [5]]);
    opener.last.agents = [sent(1, 7n)];
    expect([await values(cumulative), await values(delta)]).toEqual([[7], [2]]);
    expect([await values(cumulative), await values(delta)]).toEqual([[7], [0]]);
  });

  it('omits the kinds that a reader drops, and reports each unsupported aggregation once', async () => {
    opener.agents = [sent(1, 5n)];
    const reader = new ManualReader();
    reader.selectAggregation = (type) => {
      if (type === InstrumentType.HISTOGRAM) return { type: AggregationType.SUM };
      return { type: type === InstrumentType.OBSERVABLE_GAUGE ? AggregationType.DROP : AggregationType.DEFAULT };
    };
    instrumentation().setMeterProvider(providerWith(reader));
    expect(await values(reader, 'agent_tx_last_bytes')).toEqual([]);
    expect(await values(reader)).toEqual([5]);
    expect(await values(reader, 'agent_xfer_time_us')).toEqual([1]);
    expect(log).toEqual([
      { level: 'warn', message: expect.stringMatching(/selects sum for each histogram/) as string },
    ]);
  });

  it('never changes the array of the service, and removes only its own producer', () => {
    const none: MetricProducer = { collect: () => Promise.reject(new Error('not asked')) };
    const shared = [none];
    const readers = [new ManualReader(undefined, shared), new ManualReader(undefined, shared)];
    const one = instrumentation();
    one.setMeterProvider(providerWith(...readers));
    expect(shared).toEqual([none]);
    expect(readers.map((reader) => producersOf(reader).length)).toEqual([2, 2]);
    for (const reader of readers) (reader as unknown as Fields)._metricProducers = [...producersOf(reader), none];
    one.disable();
    expect(readers.map((reader) => producersOf(reader))).toEqual([
      [none, none],
      [none, none],
    ]);
  });

  it('adds its producer again if other code removed it', async () => {
    const reader = new ManualReader();
    opener.agents = [sent(1, 5n)];
    instrumentation().setMeterProvider(providerWith(reader));
    (reader as unknown as Fields)._metricProducers = [];
    vi.advanceTimersByTime(WATCH_MS);
    expect(await values(reader)).toEqual([5]);
  });

  it('releases the rings even if a reader refuses the removal of the producer', () => {
    const reader = new ManualReader();
    const one = instrumentation();
    one.setMeterProvider(providerWith(reader));
    Object.freeze(reader);
    one.disable();
    expect([opener.open, log.splice(0).map(({ message }) => message)]).toEqual([
      [],
      [expect.stringMatching(/^removing a producer from its reader failed: .*_metricProducers/)],
    ]);
  });

  it('leaves nothing behind over any number of providers, disable() and enable()', () => {
    const readers = Array.from({ length: 5 }, () => new ManualReader());
    const providers = readers.map((reader) => providerWith(reader));
    const one = instrumentation();
    for (let i = 0; i < 100; i++) one.setMeterProvider(providers[i % 5]!);
    expect(readers.map((reader) => producersOf(reader).length)).toEqual([0, 0, 0, 0, 1]);
    expect([opener.opened.length, vi.getTimerCount()]).toEqual([1, 1]);
    for (let i = 0; i < 10; i++) {
      one.disable();
      expect([producersOf(readers[4]!).length, opener.open.length, vi.getTimerCount()]).toEqual([0, 0, 0]);
      one.enable();
      expect([producersOf(readers[4]!).length, opener.open.length, vi.getTimerCount()]).toEqual([1, 1, 1]);
    }
  });
});

describe('a MeterProvider', () => {
  it('without metric readers drains no ring until it has one', async () => {
    const provider = providerWith();
    instrumentation().setMeterProvider(provider);
    vi.advanceTimersByTime(5000);
    expect(opener.opened).toEqual([]);
    // As addMetricReader() of sdk-metrics 1.x does.
    const reader = new ManualReader();
    const [collector] = (providerWith(reader) as unknown as Shared)._sharedState.metricCollectors;
    (provider as unknown as Shared)._sharedState.metricCollectors.push(collector);
    opener.agents = [sent(1, 5n)];
    vi.advanceTimersByTime(WATCH_MS);
    expect(await values(reader)).toEqual([5]);
  });

  it('that is shut down releases the rings after its last collect, and a later provider continues', async () => {
    opener.agents = [sent(1, 5n)];
    const seen: number[] = [];
    class FlushingReader extends ManualReader {
      protected override async onShutdown(): Promise<void> {
        // The provider counts as shut down by now; its reader does not.
        vi.advanceTimersByTime(WATCH_MS);
        opener.last.agents = [sent(1, 8n)];
        seen.push(...(await values(this)));
      }
    }
    const [first, second] = [new FlushingReader(AggregationTemporality.DELTA), deltaReader()];
    const provider = providerWith(first);
    metrics.setGlobalMeterProvider(provider);
    instrumentation();
    seen.push(...(await values(first)));
    await provider.shutdown();
    expect(seen).toEqual([5, 3]);
    opener.last.agents = [sent(1, 9n)]; // drained, and not exported
    vi.advanceTimersByTime(WATCH_MS);
    expect(opener.open).toEqual([]);
    opener.agents = [sent(2, 20n)];
    metrics.disable();
    metrics.setGlobalMeterProvider(providerWith(second));
    vi.advanceTimersByTime(WATCH_MS);
    expect(await values(second)).toEqual([1 + 20]);
  });

  it('that hides its readers gets instruments of the API, with one warning', async () => {
    opener.agents = [sent(1, 5n)];
    const reader = new ManualReader();
    const provider = ofAnotherMake(providerWith(reader));
    const one = instrumentation();
    for (let i = 0; i < 3; i++) {
      one.setMeterProvider(provider);
      one.disable();
      one.enable();
    }
    expect(await values(reader)).toEqual([5]);
    expect(await values(reader, 'nixl.transfer.size')).toEqual([]);
    expect(fallbacks).toBe(1);
  });

  it('with private fields that throw gets instruments of the API', () => {
    const provider = providerWith(new ManualReader());
    const guarded = new Proxy(provider, {
      get(target, name) {
        if (String(name).startsWith('_')) throw new Error(`${String(name)} is private`);
        return name === 'getMeter' ? target.getMeter.bind(target) : undefined;
      },
    });
    instrumentation().setMeterProvider(guarded);
    expect([fallbacks, callbacksOf(provider), log]).toEqual([1, 1, []]);
  });

  it('that hides its readers has the instruments of one instrumentation; another one waits for its end', async () => {
    opener.agents = [sent(1, 5n)];
    const reader = new ManualReader();
    const provider = ofAnotherMake(providerWith(reader));
    const [first, second] = [instrumentation(), instrumentation()];
    for (const one of [first, second]) one.setMeterProvider(provider);
    expect([opener.open.length, await values(reader)]).toEqual([1, [5]]);
    expect(log.map(({ message }) => message)).toEqual([
      'this MeterProvider has two sources of NIXL metrics: NixlInstrumentation on /rings, and NixlInstrumentation on ' +
        '/rings; only the first exports the rings that both read: remove one of the two',
    ]);
    first.disable();
    expect(opener.open).toEqual([]);
    vi.advanceTimersByTime(WATCH_MS);
    expect([opener.open.length, await values(reader)]).toEqual([1, [5]]);
  });

  it('that shows its readers can replace one that hides them, and vice versa', async () => {
    opener.agents = [sent(1, 5n)];
    const [plain, hidden] = [new ManualReader(), new ManualReader()];
    const one = instrumentation();
    const foreign = ofAnotherMake(providerWith(hidden));
    const own = providerWith(plain);
    for (let i = 0; i < 3; i++) {
      one.setMeterProvider(own);
      expect([await values(plain), await values(plain, 'nixl.transfer.size')]).toEqual([[5], [0, 0]]);
      one.setMeterProvider(foreign);
      expect([await values(plain), await values(hidden)]).toEqual([[], [5]]);
    }
    expect(opener.opened).toHaveLength(1);
  });
});

interface Shared {
  _sharedState: { metricCollectors: unknown[] };
}
