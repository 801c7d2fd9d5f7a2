/** Builder `time`: where an agent's time goes, and how much it moved since the last look. */
import {
  METRIC_NIXL_TIME_BUSY,
  METRIC_NIXL_TIME_POST,
  METRIC_NIXL_TIME_THROUGHPUT,
  METRIC_NIXL_TIME_TODAY,
  METRIC_NIXL_TIME_TRANSFER,
} from './semconv.js';
import type { Exact } from '../exact.js';
import type { NumberMetric, Point } from './metric.js';
import { type AgentReading, eventOfType } from './tally.js';

const XFER_TIME = 6;
const POST_TIME = 7;
const BYTES = { transmit: 0, receive: 1 } as const;
const US_PER_SECOND = 1e6;
const MS_PER_SECOND = 1000;
const MS_PER_DAY = 86_400_000;

type Sum = (agent: AgentReading) => bigint;

function sumOf(type: number): Sum {
  return (agent) => eventOfType(agent, type)?.sum ?? 0n;
}

/** What was read of each agent at the look before. Agents that are gone are forgotten. */
class LastLook<Memory> {
  #takenMs = -1;
  #before = new Map<number, Memory>();
  #now = new Map<number, Memory>();

  /** `next` gets the memory of the look before; looking twice at one moment gives the same again. */
  of({ id }: AgentReading, takenMs: number, next: (before: Memory | undefined) => Memory): Memory {
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

/** What was added per second since the last look, or since the agent's start. Gauges of one reader only. */
function rate(labels: Point<Exact>['labels'], sum: Sum): Point<Exact> {
  const looks = new LastLook<{ takenMs: number; sum: bigint; rate: number }>();
  return {
    labels,
    read: (agent, takenMs) =>
      looks.of(agent, takenMs, (before) => {
        const current = sum(agent);
        const elapsedMs = Math.max(1, takenMs - (before?.takenMs ?? agent.startTimeMs));
        const gained = Number(current - (before?.sum ?? 0n));
        return { takenMs, sum: current, rate: (gained * MS_PER_SECOND) / elapsedMs };
      }).rate,
  };
}

/** What was added since midnight UTC. What came between the last look of a day and midnight counts for the next. */
function today(sum: Sum): Point<Exact> {
  const looks = new LastLook<{ day: number; base: bigint; sum: bigint }>();
  const dayOf = (ms: number): number => Math.floor(ms / MS_PER_DAY);
  return {
    labels: {},
    read(agent, takenMs) {
      const memory = looks.of(agent, takenMs, (before) => {
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
  const seconds = { unit: 's', divisor: US_PER_SECOND };
  return [
    {
      ...seconds,
      name: METRIC_NIXL_TIME_TRANSFER,
      description: 'Time of all transfers added up; transfers at the same time count each.',
      kind: 'counter',
      points: [{ labels: {}, read: sumOf(XFER_TIME) }],
    },
    {
      ...seconds,
      name: METRIC_NIXL_TIME_POST,
      description: 'Time of posting all transfers added up.',
      kind: 'counter',
      points: [{ labels: {}, read: sumOf(POST_TIME) }],
    },
    {
      name: METRIC_NIXL_TIME_BUSY,
      description: 'Transfer time per time since the last look; above 1 where transfers overlap.',
      unit: '1',
      divisor: US_PER_SECOND,
      kind: 'gauge',
      points: [rate({}, sumOf(XFER_TIME))],
    },
    {
      name: METRIC_NIXL_TIME_THROUGHPUT,
      description: 'Bytes moved per second since the last look.',
      unit: 'By/s',
      divisor: 1,
      kind: 'gauge',
      points: Object.entries(BYTES).map(([direction, type]) => rate({ direction }, sumOf(type))),
    },
    {
      ...seconds,
      name: METRIC_NIXL_TIME_TODAY,
      description: 'Transfer time since midnight UTC.',
      kind: 'gauge',
      points: [today(sumOf(XFER_TIME))],
    },
  ];
}
