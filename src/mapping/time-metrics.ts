/** Builder `time`: an agent's transfer time, and its throughput since the previous collection. */
import { DAY_MS } from '../ground/figures/clock.js';
import type { Exact } from '../ground/exact.js';
import { type AgentSnapshot, TransferEvent } from '../ground/tally.js';
import { eventOfType } from './events.js';
import { numberPoint } from './fields.js';
import type { NumberMetric, Point } from './metric.js';
import { type Labels, NO_LABELS } from './naming.js';
import * as semconv from './semconv.js';

const { TX_BYTES, RX_BYTES, XFER_TIME, XFER_POST_TIME } = TransferEvent;
const US_PER_SECOND = 1e6;
const MS_PER_SECOND = 1000;

type Sum = (agent: AgentSnapshot) => bigint;

function sumOf(type: number): Sum {
  return (agent) => eventOfType(agent, type)?.sum ?? 0n;
}

/** Remembers one value per agent from one collection to the next. Forgets released agents. */
class PerCollection<Memory> {
  #takenMs = -1;
  #before = new Map<number, Memory>();
  #now = new Map<number, Memory>();

  /** `next` computes the memory from that of the previous collection. Further calls in a collection return the same memory. */
  of({ id }: AgentSnapshot, takenMs: number, next: (before: Memory | undefined) => Memory): Memory {
    if (takenMs !== this.#takenMs) {
      this.#takenMs = takenMs;
      this.#before = this.#now;
      this.#now = new Map();
    }
    let memory = this.#now.get(id);
    if (memory === undefined) this.#now.set(id, (memory = next(this.#before.get(id))));
    return memory;
  }
}

/** Increase per second since the previous collection, or since the agent's start. One reader only. */
function rate(labels: Labels, sum: Sum): Point<Exact> {
  const memories = new PerCollection<{ takenMs: number; sum: bigint; rate: number }>();
  return {
    labels,
    read: (agent, takenMs) =>
      memories.of(agent, takenMs, (before) => {
        const current = sum(agent);
        const elapsedMs = Math.max(1, takenMs - (before?.takenMs ?? agent.startTimeMs));
        const gained = Number(current - (before?.sum ?? 0n));
        return { takenMs, sum: current, rate: (gained * MS_PER_SECOND) / elapsedMs };
      }).rate,
  };
}

/** Increase since midnight UTC. An increase between a day's last collection and midnight counts for the next day. */
function today(sum: Sum): Point<Exact> {
  const memories = new PerCollection<{ day: number; base: bigint; sum: bigint }>();
  const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);
  return {
    labels: NO_LABELS,
    read(agent, takenMs) {
      const memory = memories.of(agent, takenMs, (before) => {
        const day = dayOf(takenMs);
        const current = sum(agent);
        if (before !== undefined) return { day, base: before.day === day ? before.base : before.sum, sum: current };
        return { day, base: dayOf(agent.startTimeMs) === day ? 0n : current, sum: current };
      });
      return memory.sum - memory.base;
    },
  };
}

export function timeMetrics(): NumberMetric[] {
  const metric = (
    name: string,
    kind: NumberMetric['kind'],
    unit: string,
    divisor: number,
    description: string,
    ...points: Point<Exact>[]
  ): NumberMetric => ({ name, kind, unit, divisor, description, points });
  const total = (type: number): Point<Exact> => numberPoint({ types: [type], value: 'sum' });
  const throughput = (direction: string, type: number): Point<Exact> => rate({ direction }, sumOf(type));
  // prettier-ignore
  return [
    metric(semconv.METRIC_NIXL_TIME_TRANSFER, 'counter', 's', US_PER_SECOND,
      'Total transfer time; concurrent transfers add up.', total(XFER_TIME)),
    metric(semconv.METRIC_NIXL_TIME_POST, 'counter', 's', US_PER_SECOND, 'Total time to post transfers.',
      total(XFER_POST_TIME)),
    metric(semconv.METRIC_NIXL_TIME_BUSY, 'gauge', '1', US_PER_SECOND,
      'Transfer time per elapsed time since the previous collection; above 1 if transfers overlap.',
      rate(NO_LABELS, sumOf(XFER_TIME))),
    metric(semconv.METRIC_NIXL_TIME_THROUGHPUT, 'gauge', 'By/s', 1,
      'Bytes transferred per second since the previous collection.',
      throughput('transmit', TX_BYTES), throughput('receive', RX_BYTES)),
    metric(semconv.METRIC_NIXL_TIME_TODAY, 'gauge', 's', US_PER_SECOND, 'Transfer time since midnight UTC.',
      today(sumOf(XFER_TIME))),
  ];
}
