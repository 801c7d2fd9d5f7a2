/** Counters of the instrumentation when tallies begin again at 0, on an SDK that forgets no series. */
import { AggregationTemporality } from '@opentelemetry/sdk-metrics';
import { describe, expect, it } from 'vitest';
import { EarlierTotals } from '../../src/instrumentation/instruments/totals.js';
import { instrumentation, opener } from './harness.js';
import { agentSnapshot, eventTally } from './in-memory-source.js';
import { ManualReader, ofAnotherMake, providerWith } from './readers.js';

const BYTES = 'agent_tx_bytes_total';

function started(temporality = AggregationTemporality.CUMULATIVE, naming: 'nixl' | 'otel' = 'nixl') {
  const reader = new ManualReader(temporality);
  const provider = ofAnotherMake(providerWith(reader));
  const one = instrumentation({ naming });
  one.setMeterProvider(provider);
  const values = async (name = BYTES): Promise<unknown[]> => (await reader.points(name)).map(({ value }) => value);
  return { one, provider, values };
}

function sent(id: number, bytes: bigint, about = {}) {
  return agentSnapshot({ id, agent: 'a', ...about }, { 0: [bytes] });
}

describe('a released agent that returns', () => {
  it('continues its totals, exactly beyond 2^53', async () => {
    const { values } = started();
    for (const [id, bytes] of [2n ** 53n, 3n, 2n ** 53n + 1n].entries()) {
      opener.last.agents = [sent(id, bytes)];
      await values();
    }
    expect(await values()).toEqual([2 ** 54 + 4]);
  });

  it('is reported once in deltas, for a smaller and for a larger new tally', async () => {
    const { values } = started(AggregationTemporality.DELTA);
    const seen: unknown[] = [];
    for (const [id, bytes] of [5n, 3n, 9n].entries()) {
      opener.last.agents = [sent(id, bytes)];
      seen.push(...(await values()));
      opener.last.agents = [];
      expect(await values()).toEqual([]);
    }
    expect(seen).toEqual([5, 3, 9]);
  });

  it('continues each of its series: points and events', async () => {
    const { values } = started();
    const life = (id: number, failed: number, custom: bigint) =>
      agentSnapshot({ id, agent: 'a', restarts: id }, { 8: Array<bigint>(failed).fill(1n) }, [
        eventTally({ category: 3, name: 'own' }, [custom]),
      ]);
    opener.last.agents = [life(1, 2, 10n)];
    await values();
    opener.last.agents = [life(2, 3, 100n)];
    expect(await values('nixl.agent.restarts')).toEqual([3]);
    expect((await values('agent_errors_total')).filter((value) => value !== 0)).toEqual([5]);
    expect(await values('nixl.event.value')).toContain(110);
  });

  it('begins at 0 in other series: under another name, in another directory', async () => {
    const { values } = started();
    opener.last.agents = [sent(1, 5n)];
    await values();
    opener.last.agents = [
      sent(2, 7n, { directory: '/x' }),
      sent(3, 8n, { directory: '/y' }),
      sent(4, 1n, { agent: 'b' }),
    ];
    expect(await values()).toEqual([5, 7, 8, 1]);
  });
});

describe('a service that changes its provider and back', () => {
  it('gets each event once, of agents that stayed and of agents that left meanwhile', async () => {
    const { one, provider, values } = started();
    opener.last.agents = [sent(1, 5n), sent(2, 50n, { agent: 'b' })];
    expect(await values()).toEqual([5, 50]);
    one.setMeterProvider(ofAnotherMake(providerWith(new ManualReader())));
    opener.last.agents = [sent(1, 6n), sent(3, 4n, { agent: 'b' })];
    one.setMeterProvider(provider);
    expect(await values()).toEqual([6, 54]);
  });
});

describe('counts of durations by outcome', () => {
  it('continue', async () => {
    const { one, values } = started();
    for (const again of [() => one.disable(), () => one.setConfig({ ...one.getConfig(), deadTtlMs: 1000 }), () => {}]) {
      one.enable();
      opener.last.agents = [sent(opener.opened.length, 1n)];
      for (let i = 0; i < 3; i++) opener.last.typeTap!.push(opener.opened.length, 6, 1);
      again();
    }
    expect(await values('nixl.duration.events')).toEqual([9, 0, 0, 0, 0, 0]);
  });
});

it('the memory of earlier totals has a limit, and keeps no totals of 0', () => {
  const totals = new EarlierTotals();
  for (let i = 0; i < 3000; i++) {
    totals.add(`nothing-${i}`, 'm', 'p', 0n);
    totals.add(`agent-${i}`, 'm', 'p', 1n);
    totals.add(`agent-${i}`, 'm', 'p', 2n ** 60n);
  }
  expect(totals.of('nothing-0')).toBeUndefined();
  expect(totals.of('agent-1999')?.get('m')?.get('p')).toBe(2n ** 60n + 1n);
  expect(totals.of('agent-2000')).toBeUndefined();
});
