/** Metrics about an agent and its ring as such: alive, idle, memory in use, how full, how trustworthy. */
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
      'nixl.memory.usage',
      'updowncounter',
      'By',
      'Memory registered and not yet deregistered.',
      (agent) => agent.memoryInUse,
    ),
    metric(
      'nixl.memory.approximate',
      'gauge',
      '1',
      '1 when events of this agent were missed, so that its memory usage may be off.',
      (agent) => (agent.memoryApproximate ? 1 : 0),
    ),
  ];
}

function lifeAndRingMetrics(): NumberMetric[] {
  return [
    metric('nixl.events.unknown', 'counter', '{event}', 'Events that the event table does not know.', unknownEvents),
    // 1 where life cannot be seen: an alert on 0 must mean that a process was seen to go. The idle time tells the rest.
    metric('nixl.agent.up', 'gauge', '1', '0 once the agent process was seen to be gone, else 1.', (agent) =>
      agent.life === 'dead' ? 0 : 1,
    ),
    metric('nixl.agent.idle', 'gauge', 's', 'Time since the agent last wrote an event.', idleSeconds),
    metric(
      'nixl.agent.restarts',
      'counter',
      '{restart}',
      'Times the agent came back under its name.',
      (agent) => agent.restarts,
    ),
    metric(
      'nixl.ring.utilization',
      'gauge',
      '1',
      'Highest share of the ring that was found filled in the last 15 to 30 s.',
      utilization,
    ),
    metric(
      'nixl.ring.full',
      'counter',
      '{drain}',
      'Drains that found the ring full: the agent may have lost events then.',
      (agent) => agent.foundFull,
    ),
    metric(
      'nixl.ring.full_time',
      'counter',
      's',
      'How long the ring was full, at most: from the drains before to those that found it so.',
      (agent) => agent.foundFullMs / MILLISECONDS_PER_SECOND,
    ),
    metric(
      'nixl.ring.resyncs',
      'counter',
      '{resync}',
      'Times the place in the ring had to be found anew: restarts, damage, another consumer.',
      (agent) => agent.resyncs,
    ),
    metric(
      'nixl.ring.foreign_moves',
      'counter',
      '{move}',
      'Times another consumer took events.',
      (agent) => agent.foreignMoves,
    ),
    metric('nixl.ring.suspect', 'gauge', '1', '1 once the numbers of this agent may be off.', (agent) =>
      agent.suspect ? 1 : 0,
    ),
  ];
}
