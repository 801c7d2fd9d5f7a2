/** The instrumentation and the producer over real rings, in a separate process: exact, and nothing is left behind. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { dist, resultOf, runProgram } from '../support/child.js';
import { temporaryDirectory } from '../support/live.js';

const PRELUDE = `
  import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
  import path from 'node:path';
  import { AggregationTemporality, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
  const { NixlInstrumentation, NixlMetricProducer } = await import(${JSON.stringify(dist('index.js'))});
  const { RingWriter } = await import(${JSON.stringify(dist('rings.js'))});

  class Reader extends MetricReader {
    constructor(metricProducers = []) {
      super({ aggregationTemporalitySelector: () => AggregationTemporality.CUMULATIVE, metricProducers });
    }
    onForceFlush() {}
    onShutdown() {}
    async values() {
      const { resourceMetrics } = await this.collect();
      const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      const points = (name) => metrics.find((metric) => metric.descriptor.name === name)?.dataPoints ?? [];
      return {
        bytes: points('agent_tx_bytes_total').map(({ value }) => value),
        times: points('agent_xfer_time_us').map(({ value }) => [value.count, value.sum]),
      };
    }
  }

  const writer = new RingWriter(path.join(arg, 'agent'), { wireVersion: 4, capacity: 4096 });
  const write = (bytes, us) => {
    for (const [type, value] of [[6, us], [0, bytes], [2, 1]]) if (!writer.push({ type, value })) throw new Error('full');
  };
  const drained = async () => {
    while (writer.pending > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const openRings = () => readdirSync('/proc/self/fd').filter((fd) => { try { return readlinkSync('/proc/self/fd/' + fd).startsWith(arg); } catch { return false; } }).length;
  const left = () => ({
    threads: readdirSync('/proc/self/task').filter((task) => {
      try { return readFileSync('/proc/self/task/' + task + '/comm', 'utf8').startsWith('nixl-otel'); } catch { return false; }
    }).length,
    rings: openRings() - 1, // without that of the writer
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
  });
  // close() waits for the collector thread, which a busy machine delays for longer than that.
  const leftInTheEnd = async () => {
    const deadline = performance.now() + 20_000;
    while (Object.values(left()).some((count) => count > 0) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return left();
  };
`;

const NOTHING = { threads: 0, rings: 0, timers: 0 };

test('the instrumentation is exact and leaves nothing behind over any number of enable() and disable()', async () => {
  const result = await resultOf<{ seen: unknown[]; idle: unknown[]; after: unknown }>(
    `${PRELUDE}
    const instrumentation = new NixlInstrumentation({ directories: arg });
    const seen = [];
    const idle = [];
    for (let round = 1; round <= 5; round++) {
      const reader = new Reader();
      const provider = new MeterProvider({ readers: [reader] });
      write(1000 * round, 10 * round);
      instrumentation.setMeterProvider(provider);
      instrumentation.enable();
      write(500, 5);
      await drained();
      seen.push(await reader.values());
      instrumentation.disable();
      const after = await leftInTheEnd();
      write(1, 1); // stays in the ring until the next round
      idle.push({ ...after, ...(await reader.values()) });
      await provider.shutdown();
    }
    instrumentation.disable();
    console.log(JSON.stringify({ seen, idle, after: await leftInTheEnd() }));
  `,
    temporaryDirectory(),
  );
  const rounds = [1, 2, 3, 4, 5];
  // Totals continue over all rounds and providers: two events of each round, and the event left by the previous round.
  const upTo = (round: number, added: (round: number) => number) =>
    rounds.slice(0, round).reduce((sum, one) => sum + added(one), 0) + (round - 1);
  expect(result.seen).toEqual(
    rounds.map((round) => ({
      bytes: [upTo(round, (one) => 1000 * one + 500)],
      times: [[upTo(round, () => 2), upTo(round, (one) => 10 * one + 5)]],
    })),
  );
  expect(result.idle).toEqual(rounds.map(() => ({ ...NOTHING, bytes: [], times: [] })));
  expect(result.after).toEqual(NOTHING);
});

test('changing the provider moves all numbers to the new one', async () => {
  const result = await resultOf<{ first: unknown; second: unknown; after: unknown }>(
    `${PRELUDE}
    const instrumentation = new NixlInstrumentation({ directories: arg });
    const [a, b] = [new Reader(), new Reader()];
    instrumentation.setMeterProvider(new MeterProvider({ readers: [a] }));
    write(100, 10);
    await drained();
    const first = await a.values();
    instrumentation.setMeterProvider(new MeterProvider({ readers: [b] }));
    write(11, 20);
    await drained();
    const second = await b.values();
    const stale = await a.values();
    instrumentation.disable();
    console.log(JSON.stringify({ first, second, stale: stale.bytes, after: await leftInTheEnd() }));
  `,
    temporaryDirectory(),
  );
  expect(result).toMatchObject({
    first: { bytes: [100], times: [[1, 10]] },
    // Sums are those of the agent since its ring was opened.
    second: { bytes: [111], times: [[2, 30]] },
    stale: [],
    after: NOTHING,
  });
});

test('a producer that was closed leaves nothing behind', async () => {
  const result = await resultOf<{ seen: unknown; after: unknown; empty: unknown }>(
    `${PRELUDE}
    write(7, 70);
    const producer = new NixlMetricProducer({ directories: arg });
    const reader = new Reader([producer]);
    new MeterProvider({ readers: [reader] });
    await drained();
    const seen = await reader.values();
    producer.close();
    console.log(JSON.stringify({ seen, after: await leftInTheEnd(), empty: await reader.values() }));
  `,
    temporaryDirectory(),
  );
  expect(result).toEqual({
    seen: { bytes: [7], times: [[1, 70]] },
    after: NOTHING,
    empty: { bytes: [], times: [] },
  });
});

test.each(['instrumentation', 'producer'])('an open %s keeps no process alive', async (kind) => {
  const directory = temporaryDirectory();
  new RingWriter(path.join(directory, 'agent')).close();
  const { code } = await runProgram(
    `${PRELUDE}
    const reader = new Reader(${kind === 'producer' ? '[new NixlMetricProducer({ directories: arg })]' : ''});
    const provider = new MeterProvider({ readers: [reader] });
    if (${kind === 'instrumentation'}) new NixlInstrumentation({ directories: arg }).setMeterProvider(provider);
    await reader.values();
  `,
    directory,
  );
  expect(code).toBe(0);
});
