import { describe, expect, it } from 'vitest';
import {
  type AgentSnapshot,
  type EventTally,
  eventKind,
  eventLabels,
  type Metric,
  metricsOf,
  PRESETS,
  SIZE_BOUNDS,
  tallyOptions,
  THROUGHPUT_BOUNDS,
  toDouble,
} from '../../src/mapping/index.js';
import { exponentialTally } from '../support/exponential.js';

function event(about: Partial<EventTally> & { category: number }): EventTally {
  return { known: false, overflow: false, count: 1, sum: 7n, last: 7n, ...about };
}

/** Each known type has its number times 1000 as its sum, and its number as its last value. */
function agent(about: Partial<AgentSnapshot> = {}): AgentSnapshot {
  const buckets = { bounds: [1], counts: [0, 0], exponential: exponentialTally([]) };
  const transfer = {
    count: 1,
    size: { ...buckets, sum: 10n },
    duration: { ...buckets, sum: 20n },
    throughput: { ...buckets, sum: 0.5 },
  };
  return {
    id: 1,
    agent: 'a',
    directory: '/d',
    path: '/d/a',
    wireVersion: 4,
    life: 'alive',
    searched: true,
    startTimeMs: 1000,
    exported: true,
    capacity: 16,
    foundAtDrain: 0,
    peakFound: 3,
    foundFull: 4,
    foundFullMs: 2500,
    resyncs: 7,
    restarts: 5,
    foreignMoves: 6,
    refused: 8,
    suspect: false,
    shared: false,
    memoryInUse: 7n,
    memoryApproximate: false,
    recovered: false,
    events: tallyOptions().types.map(({ category }, type) => ({
      ...event({ category, type, known: true }),
      sum: BigInt(type) * 1000n,
      last: BigInt(type),
      ...(category === 5 ? { histogram: { ...buckets, sum: BigInt(type) * 1000n } } : {}),
    })),
    transfers: { transmit: transfer, receive: { ...transfer, count: 2 } },
    ...about,
  };
}

function find(name: string, naming: 'nixl' | 'otel' = 'nixl'): Metric {
  return metricsOf(naming, { builders: PRESETS.full.builders }).find((metric) => metric.name === name)!;
}

function value(name: string, of: AgentSnapshot = agent(), naming: 'nixl' | 'otel' = 'nixl', point = 0): number {
  const metric = find(name, naming);
  return toDouble(metric.points[point]!.read(of, 61_000) as bigint | number, metric.divisor);
}

describe('metrics of the event table', () => {
  it('read each type from its own tally', () => {
    expect(value('agent_rx_bytes_total')).toBe(1000);
    expect(value('agent_rx_last_bytes')).toBe(1);
    expect(value('agent_telemetry_events_dropped_total')).toBe(20_000);
  });

  it('have no unit in naming nixl, because a backend would append it to the name', () => {
    const own = metricsOf('nixl', { builders: PRESETS.full.builders }).filter(({ name }) => name.startsWith('agent_'));
    expect(own).toHaveLength(18);
    expect(new Set(own.map(({ unit }) => unit))).toEqual(new Set(['']));
  });

  it('turn microseconds into seconds in naming otel', () => {
    expect(value('nixl.transfer.time', agent(), 'otel')).toBe(0.006);
    expect(value('nixl.transfer.last.duration', agent(), 'otel')).toBe(6e-6);
    expect(find('nixl.transfer.duration', 'otel')).toMatchObject({ unit: 's', divisor: 1e6, recordsType: 6 });
  });

  it('share a metric between directions and between error statuses', () => {
    expect(find('nixl.transfer.io', 'otel').points.map(({ labels }) => labels.direction)).toEqual([
      'transmit',
      'receive',
    ]);
    expect(value('nixl.transfer.io', agent(), 'otel', 1)).toBe(1000);
    expect(find('agent_errors_total').points).toHaveLength(12);
    expect(find('nixl.errors', 'otel').points[11]!.labels).toEqual({ status: 'no_telemetry' });
  });

  it('find a type at another index of the tally', () => {
    const { events } = agent();
    expect(value('agent_rx_bytes_total', agent({ events: [...events].reverse() }))).toBe(1000);
  });
});

describe('metrics of an agent', () => {
  it('report the fill ratio: a ring holds one event less than its capacity', () => {
    expect(value('nixl.ring.utilization', agent({ peakFound: 15 }))).toBe(1);
    expect(value('nixl.ring.utilization', agent({ peakFound: 0, capacity: 0 }))).toBe(0);
  });

  it('report whether an agent is up only if its process is seen', () => {
    const up = (['alive', 'unknown', 'dead'] as const).map((life) => value('nixl.agent.up', agent({ life })));
    expect(up).toEqual([1, NaN, 0]);
  });

  it('count idle time from the last event, or from the start if there was none', () => {
    expect(value('nixl.agent.idle', agent({ lastEventMs: 59_500 }))).toBe(1.5);
    expect(value('nixl.agent.idle', agent())).toBe(60);
    expect(value('nixl.agent.idle', agent({ lastEventMs: 62_000 }))).toBe(0);
  });

  it('count events outside of the table', () => {
    const events = [...agent().events, event({ category: 3, name: 'x', count: 4 }), event({ category: -1, count: 2 })];
    expect(value('nixl.events.unknown', agent({ events }))).toBe(6);
    expect(value('nixl.events.unknown')).toBe(0);
  });

  it('report the rest unchanged', () => {
    expect(value('nixl.ring.full')).toBe(4);
    expect(value('nixl.ring.full_time')).toBe(2.5);
    expect(value('nixl.ring.resyncs')).toBe(7);
    expect(value('nixl.agent.restarts')).toBe(5);
    expect(value('nixl.ring.foreign_moves')).toBe(6);
    expect(value('nixl.memory.usage')).toBe(7);
    expect(value('nixl.ring.suspect', agent({ suspect: true }))).toBe(1);
    expect(value('nixl.memory.approximate', agent({ memoryApproximate: true }))).toBe(1);
  });
});

describe('events by key', () => {
  it('are labelled with the names of NIXL', () => {
    expect(eventLabels(event({ category: 1, type: 0, known: true }))).toEqual({
      category: 'NIXL_TELEMETRY_TRANSFER',
      event: 'agent_tx_bytes',
    });
    expect(eventLabels(event({ category: 3, name: 'ucx_retries' }))).toEqual({
      category: 'NIXL_TELEMETRY_BACKEND',
      event: 'ucx_retries',
    });
  });

  it('have a name if they are unknown', () => {
    expect(eventLabels(event({ category: 99, type: 33 }))).toEqual({ category: 'BAD_CATEGORY', event: 'type_33' });
    expect(eventLabels(event({ category: -1, name: 'x' })).category).toBe('BAD_CATEGORY');
    expect(eventLabels(event({ category: -1, overflow: true }))).toEqual({ category: 'overflow', event: 'overflow' });
    expect(eventLabels(event({ category: 2, type: 0 })).event).toBe('type_0');
  });

  it('fall back to the kind of their category', () => {
    const kinds = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((category) => eventKind(event({ category, name: 'x' })));
    expect(kinds).toEqual([
      'counter-gauge',
      'counter',
      'counter',
      'counter',
      'counter',
      'counter-gauge-histogram',
      'counter-gauge',
      'counter-gauge',
      'counter',
    ]);
  });

  it('have a series only once they were seen', () => {
    const events = find('nixl.events').perEvent!;
    expect(events.applies(event({ category: 1, count: 0 }))).toBe(false);
    expect(events.applies(event({ category: 1 }))).toBe(true);
  });

  it('have a last value except for the overflow, and a distribution without a dedicated metric', () => {
    const buckets = { bounds: [1], counts: [0, 1], exponential: exponentialTally([5]), sum: 5n };
    const last = find('nixl.event.last').perEvent!;
    expect(last.applies(event({ category: 3, name: 'x' }))).toBe(true);
    expect(last.applies(event({ category: -1, overflow: true }))).toBe(false);
    expect(last.applies(event({ category: 7, name: 'x' }))).toBe(true);
    const distribution = find('nixl.event.distribution').perEvent!;
    expect(distribution.applies(event({ category: 5, name: 'x', histogram: buckets }))).toBe(true);
    expect(distribution.applies(event({ category: 5, type: 6, known: true, histogram: buckets }))).toBe(false);
  });
});

describe('histogram bounds', () => {
  it('increase strictly', () => {
    const { durationBoundsUs, sizeBounds, throughputBounds } = tallyOptions();
    for (const bounds of [durationBoundsUs, sizeBounds, throughputBounds]) {
      expect(bounds.every((bound, i) => i === 0 || bound > bounds[i - 1]!)).toBe(true);
    }
    expect([SIZE_BOUNDS[0], SIZE_BOUNDS.at(-1)]).toEqual([256, 4 * 1024 ** 3]);
    expect([THROUGHPUT_BOUNDS[0], THROUGHPUT_BOUNDS.at(-1)]).toEqual([1e6, 1e12]);
  });

  it('can be replaced one by one', () => {
    expect(tallyOptions({ sizeBounds: [1, 2] })).toMatchObject({ sizeBounds: [1, 2] });
    expect(tallyOptions({ sizeBounds: [1, 2] }).durationBoundsUs).toHaveLength(18);
  });
});
