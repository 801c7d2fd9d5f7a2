import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics';
import { describe, expect, it, vi } from 'vitest';
import { instrumentation, log, opener } from './harness.js';
import { agentSnapshot } from './in-memory-source.js';
import { ManualReader, ofAnotherMake, providerWith, valuesOf } from './readers.js';

/** By event and outcome. */
function outcomes(points: readonly DataPoint<unknown>[]): Record<string, unknown> {
  return Object.fromEntries(
    points.map(({ attributes, value }) => [`${String(attributes['event'])} ${String(attributes['outcome'])}`, value]),
  );
}

describe("with another vendor's provider, the instrumentation", () => {
  it('reports sums, last values and durations', async () => {
    opener.agents = [agentSnapshot({ id: 7, agent: 'a', memoryInUse: 5n }, { 0: [10n, 20n], 8: [1n] })];
    const reader = new ManualReader();
    instrumentation().setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.taps[0]!.push(7, 6, 15);
    opener.last.taps[0]!.push(7, 6, 2_000_000);
    const [bytes] = await reader.points('agent_tx_bytes_total');
    expect(bytes).toMatchObject({ value: 30 });
    expect(bytes!.attributes).toEqual({ hostname: 'h', agent_name: 'a' });
    expect(await reader.points('agent_tx_last_bytes')).toMatchObject([{ value: 20 }]);
    expect(await reader.points('nixl.memory.usage')).toMatchObject([{ value: 5 }]);
    expect(await reader.points('nixl.agent.up')).toMatchObject([{ value: 1 }]);
    expect(valuesOf(await reader.points('agent_errors_total'), 'status')).toMatchObject({ not_posted: 1, canceled: 0 });
    expect(valuesOf(await reader.points('nixl.events'), 'event')).toEqual({
      agent_tx_bytes: 2,
      agent_err_not_posted: 1,
    });
    const [duration] = (await reader.points('agent_xfer_time_us')) as DataPoint<Histogram>[];
    expect(duration).toMatchObject({ attributes: { agent_name: 'a' }, value: { count: 2, sum: 2_000_015 } });
    expect(duration!.value.buckets.boundaries).toHaveLength(18);
    expect(outcomes(await reader.points('nixl.duration.events'))).toEqual({
      'agent_xfer_time recorded': 2,
      'agent_xfer_time sampled_out': 0,
      'agent_xfer_time lost': 0,
      'agent_xfer_post_time recorded': 0,
      'agent_xfer_post_time sampled_out': 0,
      'agent_xfer_post_time lost': 0,
    });
    expect(valuesOf(await reader.points('nixl.duration.sampled_ratio'), 'event')).toEqual({
      agent_xfer_time: 1,
      agent_xfer_post_time: 1,
    });
    expect(await reader.points('nixl.collector.ticks')).toMatchObject([{ value: 500 }]);
  });

  it('records seconds in naming otel', async () => {
    opener.agents = [agentSnapshot({ id: 7, agent: 'a' })];
    const reader = new ManualReader();
    instrumentation({ naming: 'otel' }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.taps[0]!.push(7, 7, 1_500_000);
    const [duration] = (await reader.points('nixl.transfer.post.duration')) as DataPoint<Histogram>[];
    expect(duration).toMatchObject({ attributes: { 'nixl.agent.name': 'a' }, value: { count: 1, sum: 1.5 } });
    expect(duration!.value.buckets.boundaries[0]).toBe(1e-5);
  });

  it('gives single histograms their configured bounds', async () => {
    opener.agents = [agentSnapshot({ id: 7, agent: 'a' })];
    const reader = new ManualReader();
    const one = instrumentation({ naming: 'otel', histogramBounds: { agent_xfer_time: [50, 100, 500] } });
    one.setMeterProvider(ofAnotherMake(providerWith(reader)));
    for (const type of [6, 7]) opener.last.taps[0]!.push(7, type, 60);
    const boundaries = async (name: string): Promise<number[]> => {
      const [duration] = (await reader.points(name)) as DataPoint<Histogram>[];
      return duration!.value.buckets.boundaries;
    };
    expect(await boundaries('nixl.transfer.duration')).toEqual([50e-6, 100e-6, 500e-6]);
    expect(await boundaries('nixl.transfer.post.duration')).toHaveLength(18);
  });

  it('folds no agents if only builders make the metrics', async () => {
    opener.agents = [agentSnapshot({ id: 7, agent: 'a' }, { 0: [10n] })];
    const reader = new ManualReader();
    instrumentation({ builders: ['comprehensive'] }).setMeterProvider(ofAnotherMake(providerWith(reader)));
    expect(await reader.points('nixl.comprehensive.events')).toMatchObject([{ value: 1 }]);
    expect(log).toEqual([]);
  });

  it('drains the rings at each collect', async () => {
    const reader = new ManualReader();
    instrumentation().setMeterProvider(ofAnotherMake(providerWith(reader)));
    await reader.metrics();
    await reader.metrics();
    expect(opener.last.drains).toBe(2);
  });

  it('records durations between collects too, by its timer, also of agents that appeared after the last one', async () => {
    const reader = new ManualReader();
    instrumentation().setMeterProvider(ofAnotherMake(providerWith(reader)));
    await reader.metrics();
    const source = opener.last;
    source.agents = [agentSnapshot({ id: 9, agent: 'new' })];
    source.taps[0]!.push(9, 6, 5);
    source.taps[0]!.push(10, 6, 5);
    vi.advanceTimersByTime(1000);
    source.drainNow = () => expect(source.taps[0]!.take(1).length).toBe(0);
    expect(await reader.points('agent_xfer_time_us')).toMatchObject([{ attributes: { agent_name: 'new' } }]);
    expect(outcomes(await reader.points('nixl.duration.events'))).toMatchObject({
      'agent_xfer_time recorded': 1,
      'agent_xfer_time lost': 1,
    });
  });

  it('keeps the attributes of an agent when another one of its name appears', async () => {
    const reader = new ManualReader();
    opener.agents = [agentSnapshot({ id: 1, agent: 'a', directory: '/one' })];
    instrumentation().setMeterProvider(ofAnotherMake(providerWith(reader)));
    await reader.metrics();
    opener.last.agents.push(agentSnapshot({ id: 2, agent: 'a', directory: '/two' }));
    const points = await reader.points('nixl.agent.up');
    expect(points.map(({ attributes }) => attributes.ring_directory)).toEqual([undefined, '/two']);
  });

  it('reports the share of each kind of duration that reached the histograms since the previous collect', async () => {
    opener.agents = [agentSnapshot({ id: 7, agent: 'a' })];
    const reader = new ManualReader();
    instrumentation().setMeterProvider(ofAnotherMake(providerWith(reader)));
    const [tap] = opener.last.taps;
    const ratios = async () => {
      opener.last.takenMs += 15_000;
      const points = await reader.points('nixl.duration.sampled_ratio');
      // Another reader that collects at the same time gets the same.
      expect(await reader.points('nixl.duration.sampled_ratio')).toMatchObject(points.map(({ value }) => ({ value })));
      return valuesOf(points, 'event');
    };
    for (let i = 0; i < 100; i++) tap!.push(7, 6, 1);
    expect(await ratios()).toEqual({ agent_xfer_time: 1, agent_xfer_post_time: 1 });
    tap!.setSampling(4);
    for (let i = 0; i < 100; i++) tap!.push(7, 6, 1);
    tap!.setSampling(1);
    for (let i = 0; i < 50; i++) tap!.push(7, 6, 1);
    for (let i = 0; i < 10; i++) tap!.push(7, 7, 1);
    // Sampling has ended, but half of these durations are missing.
    expect(await ratios()).toEqual({ agent_xfer_time: 0.5, agent_xfer_post_time: 1 });
    expect(await ratios()).toEqual({ agent_xfer_time: 1, agent_xfer_post_time: 1 });
  });

  it('keeps errors of the source from the reader, and reports each once', async () => {
    const reader = new ManualReader();
    instrumentation().setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.failure = new Error('gone');
    await reader.metrics();
    await reader.metrics();
    expect(log).toEqual([{ level: 'error', message: 'collect failed: gone' }]);
  });

  it('reports each unreadable ring once, and not that rings appear and disappear', async () => {
    const reader = new ManualReader();
    instrumentation().setMeterProvider(ofAnotherMake(providerWith(reader)));
    opener.last.problems = [
      { path: '/rings/x', state: 'incompatible', reason: 'wire version 6' },
      { path: '/rings/z', state: 'corrupt', reason: 'no ring' },
      { path: '/rings/y', state: 'initializing', reason: '' },
    ];
    await reader.metrics();
    await reader.metrics();
    expect(log).toEqual([{ level: 'warn', message: 'ring /rings/x is incompatible: wire version 6' }]);
  });
});
