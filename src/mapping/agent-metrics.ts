/** Metrics of an agent and its ring: life, memory in use, fill, and reliability of the numbers. */
import type { Exact } from '../ground/exact.js';
import { type AgentSnapshot, Category, type NumberField } from '../ground/tally.js';
import { eventOfType, EVENTS, type EventRow } from './events.js';
import { numberPoint } from './fields.js';
import type { NumberMetric } from './metric.js';
import { NO_LABELS } from './naming.js';
import * as semconv from './semconv.js';

const MILLISECONDS_PER_SECOND = 1000;

const EVENTS_DROPPED = EVENTS.findIndex(({ event }) => event === 'agent_telemetry_events_dropped');

/** A field, or a reading: undefined if the agent has no such point. */
type Read = NumberField | ((agent: AgentSnapshot, takenMs: number) => Exact | undefined);
/**
 * A flag counts what it is about, `{agent}` or `{ring}`, so that its sum is a number of them. With the unit 1 a backend that
 * translates units would name it a ratio.
 */
type MetricRow = readonly [
  name: string,
  kind: NumberMetric['kind'],
  unit: string,
  description: string,
  read: Read,
  divisor?: number,
];

/** Returns the fill ratio of a ring, of which one slot stays empty. The peak may come from a larger, replaced ring. */
export function utilization({ peakFound, capacity }: AgentSnapshot): number {
  return capacity > 1 ? Math.min(1, peakFound / (capacity - 1)) : 0;
}

function idleSeconds(agent: AgentSnapshot, takenMs: number): number {
  return Math.max(0, takenMs - (agent.lastEventMs ?? agent.startTimeMs)) / MILLISECONDS_PER_SECOND;
}

/** Returns a lower bound of the events that the agent dropped: what it reports, and what its full ring cut off. */
export function lostEvents(agent: AgentSnapshot): bigint {
  return (eventOfType(agent, EVENTS_DROPPED)?.sum ?? 0n) + BigInt(agent.refused);
}

function unknownEvents({ events }: AgentSnapshot): number {
  return events.reduce((count, event) => (event.known ? count : count + event.count), 0);
}

// prettier-ignore
const MEMORY: readonly MetricRow[] = [
  [semconv.METRIC_NIXL_MEMORY_USAGE, 'updowncounter', 'By', 'Memory registered and not yet deregistered.',
    { agent: 'memoryInUse' }],
  [semconv.METRIC_NIXL_MEMORY_APPROXIMATE, 'gauge', '{agent}',
    '1 if memory events were missed, so that the memory usage may be wrong.',
    (agent) => (agent.memoryApproximate ? 1 : 0)],
];

// prettier-ignore
const LIFE_AND_RING: readonly MetricRow[] = [
  [semconv.METRIC_NIXL_EVENTS_UNKNOWN, 'counter', '{event}', 'Events of types that are not in the event table.',
    unknownEvents],
  [semconv.METRIC_NIXL_AGENT_UP, 'gauge', '{agent}',
    "1 while the agent's process is seen to live, 0 once it has ended; absent if that cannot be seen.",
    ({ life }) => (life === 'unknown' ? undefined : Number(life === 'alive'))],
  [semconv.METRIC_NIXL_AGENT_IDLE, 'gauge', 's', "Time since the agent's last event.", idleSeconds],
  [semconv.METRIC_NIXL_AGENT_RESTARTS, 'counter', '{restart}', 'Restarts of the agent under the same name.',
    { agent: 'restarts' }],
  [semconv.METRIC_NIXL_RING_UTILIZATION, 'gauge', '1', 'Highest fill ratio of the ring in the last 15 to 30 s.',
    utilization],
  [semconv.METRIC_NIXL_RING_FULL, 'counter', '{drain}',
    'Drains that found the ring full: the agent may have lost events.', { agent: 'foundFull' }],
  [semconv.METRIC_NIXL_RING_FULL_TIME, 'counter', 's', 'Upper bound on the time the ring was full.',
    { agent: 'foundFullMs' }, MILLISECONDS_PER_SECOND],
  [semconv.METRIC_NIXL_RING_LOST, 'counter', '{event}',
    'Events lost, at least: reported as dropped by the agent, or refused by its full ring.', lostEvents],
  [semconv.METRIC_NIXL_RING_RESYNCS, 'counter', '{resync}',
    'Read position resynchronisations (restart, corruption, other consumer).', { agent: 'resyncs' }],
  [semconv.METRIC_NIXL_RING_FOREIGN_MOVES, 'counter', '{move}', 'Read position changes by other consumers.',
    { agent: 'foreignMoves' }],
  [semconv.METRIC_NIXL_RING_WRITERS, 'gauge', '{process}', 'Processes that can write the ring, as far as they are seen.',
    (agent) => agent.writers?.length ?? (agent.pid === undefined ? 0 : 1)],
  [semconv.METRIC_NIXL_RING_SUSPECT, 'gauge', '{ring}', "1 if the agent's metrics may be wrong.",
    (agent) => (agent.suspect ? 1 : 0)],
];

/** Each page and export has it once for each agent: queries join it to the other series. */
const INFO: NumberMetric = {
  name: semconv.METRIC_NIXL_AGENT_INFO,
  kind: 'gauge',
  unit: '{agent}',
  description: '1, by engine, instance, role, ranks and ways of the agent, as far as they are known.',
  divisor: 1,
  isInfo: true,
  points: [{ labels: NO_LABELS, read: () => 1 }],
};

/** Returns the metrics of an agent. `rows`: exported events. Memory metrics need a memory event among them. */
export function agentMetrics(rows: readonly EventRow[]): NumberMetric[] {
  const memory = rows.some(({ category }) => category === Category.MEMORY) ? MEMORY : [];
  const metrics = [...memory, ...LIFE_AND_RING].map(([name, kind, unit, description, read, divisor = 1]) => {
    const point = typeof read === 'function' ? { labels: NO_LABELS, read } : numberPoint(read);
    return { name, kind, unit, description, divisor, points: [point] };
  });
  return [INFO, ...metrics];
}
