/** Metrics of an agent and its ring: life, memory in use, fill, and reliability of the numbers. */
import type { Exact } from '../exact.js';
import { type AgentSnapshot, Category } from '../tally.js';
import type { EventRow } from './events.js';
import type { NumberMetric } from './metric.js';
import { NO_LABELS } from './naming.js';
import * as semconv from './semconv.js';

const MILLISECONDS_PER_SECOND = 1000;

type Read = (agent: AgentSnapshot, takenMs: number) => Exact;
/**
 * A flag counts what it is about, `{agent}` or `{ring}`, so that its sum is a number of them. With the unit 1 a backend that
 * translates units would name it a ratio.
 */
type Row = readonly [name: string, kind: NumberMetric['kind'], unit: string, description: string, read: Read];

/** Returns the fill ratio of a ring, of which one slot stays empty. The peak may come from a larger, replaced ring. */
export function utilization({ peakFound, capacity }: AgentSnapshot): number {
  return capacity > 1 ? Math.min(1, peakFound / (capacity - 1)) : 0;
}

function idleSeconds(agent: AgentSnapshot, takenMs: number): number {
  return Math.max(0, takenMs - (agent.lastEventMs ?? agent.startTimeMs)) / MILLISECONDS_PER_SECOND;
}

function unknownEvents({ events }: AgentSnapshot): number {
  return events.reduce((count, event) => (event.known ? count : count + event.count), 0);
}

// prettier-ignore
const MEMORY: readonly Row[] = [
  [semconv.METRIC_NIXL_MEMORY_USAGE, 'updowncounter', 'By', 'Memory registered and not yet deregistered.',
    (agent) => agent.memoryInUse],
  [semconv.METRIC_NIXL_MEMORY_APPROXIMATE, 'gauge', '{agent}',
    '1 if memory events were missed, so that the memory usage may be wrong.',
    (agent) => (agent.memoryApproximate ? 1 : 0)],
];

// prettier-ignore
const LIFE_AND_RING: readonly Row[] = [
  [semconv.METRIC_NIXL_EVENTS_UNKNOWN, 'counter', '{event}', 'Events of types that are not in the event table.',
    unknownEvents],
  // 1 also for unknown life: an alert on 0 must fire only if a process is known to have ended.
  [semconv.METRIC_NIXL_AGENT_UP, 'gauge', '{agent}', "0 if the agent's process is known to have ended, otherwise 1.",
    (agent) => (agent.life === 'dead' ? 0 : 1)],
  [semconv.METRIC_NIXL_AGENT_IDLE, 'gauge', 's', "Time since the agent's last event.", idleSeconds],
  [semconv.METRIC_NIXL_AGENT_RESTARTS, 'counter', '{restart}', 'Restarts of the agent under the same name.',
    (agent) => agent.restarts],
  [semconv.METRIC_NIXL_RING_UTILIZATION, 'gauge', '1', 'Highest fill ratio of the ring in the last 15 to 30 s.',
    utilization],
  [semconv.METRIC_NIXL_RING_FULL, 'counter', '{drain}',
    'Drains that found the ring full: the agent may have lost events.', (agent) => agent.foundFull],
  [semconv.METRIC_NIXL_RING_FULL_TIME, 'counter', 's', 'Upper bound on the time the ring was full.',
    (agent) => agent.foundFullMs / MILLISECONDS_PER_SECOND],
  [semconv.METRIC_NIXL_RING_RESYNCS, 'counter', '{resync}',
    'Read position resynchronisations (restart, corruption, other consumer).', (agent) => agent.resyncs],
  [semconv.METRIC_NIXL_RING_FOREIGN_MOVES, 'counter', '{move}', 'Read position changes by other consumers.',
    (agent) => agent.foreignMoves],
  [semconv.METRIC_NIXL_RING_SUSPECT, 'gauge', '{ring}', "1 if the agent's metrics may be wrong.",
    (agent) => (agent.suspect ? 1 : 0)],
];

/** Returns the metrics of an agent. `rows`: exported events. Memory metrics need a memory event among them. */
export function agentMetrics(rows: readonly EventRow[]): NumberMetric[] {
  const memory = rows.some(({ category }) => category === Category.MEMORY) ? MEMORY : [];
  return [...memory, ...LIFE_AND_RING].map(([name, kind, unit, description, read]) => {
    return { name, kind, unit, description, divisor: 1, points: [{ labels: NO_LABELS, read }] };
  });
}
