import { describe, expect, it } from 'vitest';
import { type AgentSnapshot, metricsOf, type NumberMetric } from '../../src/mapping/index.js';
import { agentSnapshot } from '../instrumentation/in-memory-source.js';

const DAY_MS = 86_400_000;
const NOON = 20_000 * DAY_MS + DAY_MS / 2;

function agentWith(transferUs: bigint, bytes: bigint, startTimeMs = NOON, id = 1): AgentSnapshot {
  return agentSnapshot({ id, agent: 'a', startTimeMs }, { 0: [bytes], 6: [transferUs] });
}

function reader(name: string): (agent: AgentSnapshot, takenMs: number) => number {
  const metric = metricsOf('otel', { builders: ['time'] }).find((one) => one.name === name) as NumberMetric;
  return (agent, takenMs) => Number(metric.points[0]!.read(agent, takenMs)) / metric.divisor;
}

describe('rates', () => {
  it('cover the time since the previous collection, the first one since the start', () => {
    const busy = reader('nixl.time.busy');
    expect(busy(agentWith(500_000n, 0n), NOON + 1000)).toBe(0.5);
    expect(busy(agentWith(2_500_000n, 0n), NOON + 2000)).toBe(2);
    expect(busy(agentWith(2_500_000n, 0n), NOON + 3000)).toBe(0);
    const throughput = reader('nixl.time.throughput');
    expect(throughput(agentWith(0n, 4096n), NOON + 2000)).toBe(2048);
  });

  it('are the same in two readings of one collection', () => {
    const busy = reader('nixl.time.busy');
    for (let i = 0; i < 2; i++) expect(busy(agentWith(500_000n, 0n), NOON + 1000)).toBe(0.5);
  });

  it('are separate per agent, and restart for one that was absent', () => {
    const busy = reader('nixl.time.busy');
    busy(agentWith(1_000_000n, 0n, NOON, 1), NOON + 1000);
    expect(busy(agentWith(500_000n, 0n, NOON, 2), NOON + 1000)).toBe(0.5);
    busy(agentWith(0n, 0n, NOON, 3), NOON + 2000);
    busy(agentWith(0n, 0n, NOON, 3), NOON + 3000);
    expect(busy(agentWith(4_000_000n, 0n, NOON, 1), NOON + 4000)).toBe(1);
  });
});

describe('the time of today', () => {
  it('restarts at midnight from the last collection before', () => {
    const today = reader('nixl.time.today');
    const midnight = NOON + DAY_MS / 2;
    expect(today(agentWith(3_000_000n, 0n), NOON + 1000)).toBe(3);
    expect(today(agentWith(5_000_000n, 0n), midnight - 1)).toBe(5);
    expect(today(agentWith(6_000_000n, 0n), midnight)).toBe(1);
    expect(today(agentWith(9_000_000n, 0n), midnight + 1000)).toBe(4);
  });

  it('omits days without a collection', () => {
    expect(reader('nixl.time.today')(agentWith(7_000_000n, 0n), NOON + DAY_MS)).toBe(0);
  });
});
