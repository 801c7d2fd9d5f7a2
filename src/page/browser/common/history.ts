/** Joins answers of /api/v1/history: each later one has only the points after the last. Pure. */
import type {
  AgentColumns,
  Column,
  CountColumns,
  FleetColumns,
  HistoryAnswer,
} from '../../../view/answers/history-answer.js';

const KEPT_MS = 10 * 60_000;
/** Rates of one point say little: a flush of the agent falls into it or not. */
const NOW_POINTS = 3;

/** Returns the history with the points of a later answer. Another process begins anew. */
export function extended(before: HistoryAnswer | undefined, next: HistoryAnswer): HistoryAnswer {
  if (before === undefined || before.startedMs !== next.startedMs) return next;
  const fromMs = next.takenMs - KEPT_MS;
  const points = new Joint(before.timesMs, next.timesMs, fromMs);
  const agentPoints = new Joint(before.agentTimesMs, next.agentTimesMs, fromMs);
  return {
    ...next,
    timesMs: points.timesMs,
    fleet: fleetOf(before.fleet, next.fleet, points),
    transferTimesUs: countsOf(before.transferTimesUs, next.transferTimesUs, fromMs),
    txSizes: countsOf(before.txSizes, next.txSizes, fromMs),
    rxSizes: countsOf(before.rxSizes, next.rxSizes, fromMs),
    events: [...before.events.filter((old) => !next.events.some((one) => isSame(old, one))), ...next.events].filter(
      ({ timeMs }) => timeMs >= fromMs,
    ),
    agentTimesMs: agentPoints.timesMs,
    agents: agentsOf(before.agents, next.agents, agentPoints),
  };
}

type Event = HistoryAnswer['events'][number];
const isSame = (a: Event, b: Event): boolean => a.timeMs === b.timeMs && a.id === b.id && a.kind === b.kind;

/** Places of old and new points. A new point replaces the old ones from its time on. */
class Joint {
  readonly timesMs: readonly number[];
  readonly #first: number;
  readonly #end: number;
  readonly #added: number;

  constructor(before: readonly number[], next: readonly number[], fromMs: number) {
    const first = before.findIndex((time) => time >= fromMs);
    const end = next.length === 0 ? -1 : before.findIndex((time) => time >= next[0]!);
    this.#end = end === -1 ? before.length : end;
    this.#first = first === -1 ? this.#end : Math.min(first, this.#end);
    this.#added = next.length;
    this.timesMs = this.join(before, next);
  }

  join<T>(before: readonly T[], next: readonly T[]): T[] {
    return [...before.slice(this.#first, this.#end), ...next];
  }

  /** True if the later answer changes nothing: most of them have no points of agents. */
  get isUnchanged(): boolean {
    return this.#added === 0 && this.#first === 0;
  }

  /** Joins columns of which one may be absent: an agent or a status that is new, or that is gone. */
  column(before: Column | undefined, next: Column | undefined): Column {
    const old: Column = before ?? Array.from({ length: this.#end }, () => null);
    return this.join(old, next ?? Array.from({ length: this.#added }, () => null));
  }
}

function fleetOf(before: FleetColumns, next: FleetColumns, points: Joint): FleetColumns {
  const statuses = new Set([...Object.keys(before.errors), ...Object.keys(next.errors)]);
  const errors = Object.fromEntries(
    [...statuses].map((status) => [status, points.column(before.errors[status], next.errors[status])]),
  );
  const joined = Object.entries(next)
    .filter(([key]) => key !== 'errors')
    .map(([key, column]) => [key, points.column(before[key as 'tx'], column as Column)]);
  return { ...(Object.fromEntries(joined) as unknown as FleetColumns), errors };
}

function agentsOf(before: readonly AgentColumns[], next: readonly AgentColumns[], points: Joint): AgentColumns[] {
  const old = new Map(before.map((agent) => [agent.id, agent]));
  return next.map((agent) => {
    const known = old.get(agent.id);
    if (points.isUnchanged && known !== undefined) return known;
    const { id, ...columns } = agent;
    const joined = Object.entries(columns).map(([key, column]) => [key, points.column(known?.[key as 'tx'], column)]);
    return { id, ...(Object.fromEntries(joined) as Omit<AgentColumns, 'id'>) };
  });
}

function countsOf(before: CountColumns, next: CountColumns, fromMs: number): CountColumns {
  const columns = new Joint(before.timesMs, next.timesMs, fromMs);
  return {
    ...next,
    timesMs: columns.timesMs,
    offsets: columns.join(before.offsets, next.offsets),
    counts: columns.join(before.counts, next.counts),
  };
}

/** Returns the mean of the newest known points; undefined without one. */
export function newest(column: Column): number | undefined {
  const known = column.slice(-NOW_POINTS).filter((value) => value !== null);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
}
