import { describe, expect, it } from 'vitest';
import { countedEvents, rateLine } from '../../src/cli/demo/rate-line.js';
import type { AgentSnapshot, EventTally, Snapshot } from '../../src/shm-bridge/types.js';
import { agentSnapshot } from '../instrumentation/in-memory-source.js';

const TX_BYTES = 0;
const RX_BYTES = 1;
const TX_REQUESTS = 2;
const RX_REQUESTS = 3;
const ERR_BACKEND = 10;
const DROPPED = 20;
/** Later than any sample here: an agent that the first sample lacks started after it. */
const START_MS = 1_000_000;

function event(type: number, sum: bigint, count: number): EventTally {
  const category = type >= 8 && type <= 19 ? 4 : 1;
  return { type, category, known: true, overflow: false, count, sum, last: 0n };
}

function agent(id: number, events: EventTally[], about: Partial<AgentSnapshot> = {}): AgentSnapshot {
  return { ...agentSnapshot({ id, agent: `agent-${id}`, startTimeMs: START_MS, ...about }), events };
}

function at(takenMs: number, ...agents: AgentSnapshot[]): Snapshot {
  return { takenMs, agents } as Snapshot;
}

describe('rateLine', () => {
  it('divides the increase between two snapshots by the time between them', () => {
    const before = at(1_000, agent(1, [event(TX_BYTES, 5n, 1)]));
    const after = at(
      3_000,
      agent(1, [event(TX_BYTES, 2_400_000_005n, 400), event(TX_REQUESTS, 400n, 400)]),
      agent(2, [event(RX_BYTES, 824_000_000n, 220), event(RX_REQUESTS, 220n, 220), event(ERR_BACKEND, 3n, 3)]),
    );
    expect(rateLine(before, after)).toBe('2 agents · tx 1.20 GB/s · rx 412 MB/s · 310 req/s · 1.5 errors/s · 0 lost');
  });

  it('shows rates of 0 if no counter changed', () => {
    const snapshot = at(1_000, agent(1, [event(TX_BYTES, 7n, 1)]));
    const later = { ...snapshot, takenMs: 2_000 };
    expect(rateLine(snapshot, later)).toBe('1 agent · tx 0 · rx 0 · 0 req/s · 0 errors/s · 0 lost');
  });

  it('does not divide by 0 without an earlier snapshot or without time between', () => {
    const snapshot = at(1_000, agent(1, [event(TX_BYTES, 7n, 1)]));
    expect(rateLine(undefined, snapshot)).toContain('tx 0');
    expect(rateLine(snapshot, snapshot)).toContain('tx 0');
  });

  it('keeps totals when an agent ends, and separates a successor from its predecessor', () => {
    const before = at(0, agent(1, [event(TX_BYTES, 500n, 1)]));
    expect(rateLine(before, at(1_000))).toContain('0 agents · tx 0');
    expect(rateLine(before, at(1_000, agent(2, [event(TX_BYTES, 20n, 1)])))).toContain('tx 20 B/s');
  });

  it('counts present agents, but no dead ones and no old files', () => {
    const agents = [agent(1, []), agent(2, [], { life: 'unknown' }), agent(3, [], { life: 'dead' })];
    expect(rateLine(undefined, at(0, ...agents, agent(4, [], { exported: false })))).toContain('2 agents');
  });

  it('shows losses as totals, and that rings were full', () => {
    const after = at(0, agent(1, [event(DROPPED, 3_440n, 2)], { foundFull: 12, refused: 1 }));
    expect(rateLine(after, after)).toContain('3,441 lost · rings found full 12 times: more events may be lost');
  });
});

it('counts the events of all agents', () => {
  const agents = [agent(1, [event(TX_BYTES, 9n, 4), event(DROPPED, 9n, 1)]), agent(2, [event(TX_BYTES, 9n, 2)])];
  expect(countedEvents(at(0, ...agents))).toBe(7);
});
