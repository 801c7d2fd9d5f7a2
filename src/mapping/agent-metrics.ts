/** Metrics about an agent and its ring as such: alive, idle, memory in use, how full, how trustworthy. */
import {
  METRIC_NIXL_AGENT_IDLE,
  METRIC_NIXL_AGENT_RESTARTS,
  METRIC_NIXL_AGENT_UP,
  METRIC_NIXL_EVENTS_UNKNOWN,
  METRIC_NIXL_MEMORY_APPROXIMATE,
  METRIC_NIXL_MEMORY_USAGE,
  METRIC_NIXL_RING_FOREIGN_MOVES,
  METRIC_NIXL_RING_FULL,
  METRIC_NIXL_RING_FULL_TIME,
  METRIC_NIXL_RING_RESYNCS,
  METRIC_NIXL_RING_SUSPECT,
  METRIC_NIXL_RING_UTILIZATION,
} from './semconv.js';
import { Category } from './categories.js';
import { type EventRow, EVENTS } from './events.js';
import type { Exact } from '../exact.js';
import type { NumberMetric } from './metric.js';
import type { AgentReading } from './tally.js';

const NO_LABELS = {};
const MILLISECONDS_PER_SECOND = 1000;

type Kind = NumberMetric['kind'];
type Read = (agent: AgentReading, takenMs: number) => Exact;

function metric(name: string, kind: Kind, unit: string, description: string, read: Read): NumberMetric {
  return { name, kind, unit, description, divisor: 1, points: [{ labels: NO_LABELS, read }] };
}

/** A ring of capacity c holds at most c - 1 events; one that was replaced by a smaller one may have held more. */
export function utilization({ peakPending, capacity }: AgentReading): number {
  return capacity > 1 ? Math.min(1, peakPending / (capacity - 1)) : 0;
}

function idleSeconds(agent: AgentReading, takenMs: number): number {
  return Math.max(0, takenMs - (agent.lastEventMs ?? agent.startTimeMs)) / MILLISECONDS_PER_SECOND;
}

function unknownEvents(agent: AgentReading): number {
  let count = 0;
  for (const event of agent.events) if (!event.known) count += event.count;
  return count;
}

/** The same names in both namings. `rows`: the events that are exported. */
export function agentMetrics(rows: readonly EventRow[] = EVENTS): NumberMetric[] {
  const memory = rows.some(({ category }) => category === Category.MEMORY) ? memoryMetrics() : [];
  return [...memory, ...lifeAndRingMetrics()];
}

function memoryMetrics(): NumberMetric[] {
  return [
    metric(
      METRIC_NIXL_MEMORY_USAGE,
      'updowncounter',
      'By',
      'Memory registered and not yet deregistered.',
      (agent) => agent.memoryInUse,
    ),
    metric(
      METRIC_NIXL_MEMORY_APPROXIMATE,
      'gauge',
      '1',
      '1 when events of this agent were missed, so that its memory usage may be off.',
      (agent) => (agent.memoryApproximate ? 1 : 0),
    ),
  ];
}

function lifeAndRingMetrics(): NumberMetric[] {
  return [
    metric(
      METRIC_NIXL_EVENTS_UNKNOWN,
      'counter',
      '{event}',
      'Events that the event table does not know.',
      unknownEvents,
    ),
    // 1 where life cannot be seen: an alert on 0 must mean that a process was seen to go. The idle time tells the rest.
    metric(METRIC_NIXL_AGENT_UP, 'gauge', '1', '0 once the agent process was seen to be gone, else 1.', (agent) =>
      agent.life === 'dead' ? 0 : 1,
    ),
    metric(METRIC_NIXL_AGENT_IDLE, 'gauge', 's', 'Time since the agent last wrote an event.', idleSeconds),
    metric(
      METRIC_NIXL_AGENT_RESTARTS,
      'counter',
      '{restart}',
      'Times the agent came back under its name.',
      (agent) => agent.restarts,
    ),
    metric(
      METRIC_NIXL_RING_UTILIZATION,
      'gauge',
      '1',
      'Highest share of the ring that was found filled in the last 15 to 30 s.',
      utilization,
    ),
    metric(
      METRIC_NIXL_RING_FULL,
      'counter',
      '{drain}',
      'Drains that found the ring full: the agent may have lost events then.',
      (agent) => agent.foundFull,
    ),
    metric(
      METRIC_NIXL_RING_FULL_TIME,
      'counter',
      's',
      'How long the ring was full, at most: from the drains before to those that found it so.',
      (agent) => agent.foundFullMs / MILLISECONDS_PER_SECOND,
    ),
    metric(
      METRIC_NIXL_RING_RESYNCS,
      'counter',
      '{resync}',
      'Times the place in the ring had to be found anew: restarts, damage, another consumer.',
      (agent) => agent.resyncs,
    ),
    metric(
      METRIC_NIXL_RING_FOREIGN_MOVES,
      'counter',
      '{move}',
      'Times another consumer took events.',
      (agent) => agent.foreignMoves,
    ),
    metric(METRIC_NIXL_RING_SUSPECT, 'gauge', '1', '1 once the numbers of this agent may be off.', (agent) =>
      agent.suspect ? 1 : 0,
    ),
  ];
}
