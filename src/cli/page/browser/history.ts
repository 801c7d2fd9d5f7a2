/** What the page remembers: rates between two answers, for ten minutes, and whole answers for one. Pure. */
import { countsOfAll, countsSince, quantile } from '../../figures/quantile.js';
import type { AgentData, PageData } from '../data.js';

const KEPT_MS = 10 * 60_000;
const MAX_SAMPLES = 700;
/** Whole answers, for distributions of the last minute. */
const ANSWERS_KEPT_MS = 60_000;
/** What percentiles span: fewer seconds hold too few transfers to tell a p99. */
export const PERCENTILE_SPAN_MS = 10_000;

/** Null: not known, because nothing happened or nothing is there to compare with. */
export interface Sample {
  /** Bytes per second. */
  readonly tx: number | null;
  readonly rx: number | null;
  /** Per second. */
  readonly requests: number | null;
  readonly errors: number | null;
  /** Microseconds, over the last ten seconds. */
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  /** Bytes. */
  readonly memory: number | null;
  /** 0 to 1. */
  readonly fill: number | null;
  /** Per second: drains that found a ring full, and events that agents say they dropped. */
  readonly full: number | null;
  readonly dropped: number | null;
}

export type Measure = keyof Sample;
export type Distribution = 'durations' | 'postDurations' | 'txSizes' | 'rxSizes';

interface Moment {
  readonly takenMs: number;
  readonly all: Sample;
  readonly byAgent: ReadonlyMap<number, Sample>;
}

export const errorsOf = ({ errors }: AgentData): number => errors.reduce((sum, count) => sum + count, 0);
const requestsOf = ({ txRequests, rxRequests }: AgentData): number => txRequests + rxRequests;
const OTHERS = -1;

export class History {
  #moments: Moment[] = [];
  #answers: PageData[] = [];

  get latest(): PageData | undefined {
    return this.#answers.at(-1);
  }

  add(data: PageData): void {
    const before = this.latest;
    if (before !== undefined && (before.startedMs !== data.startedMs || before.takenMs > data.takenMs)) {
      this.#moments = [];
      this.#answers = [];
    }
    if (before?.takenMs === data.takenMs) return;
    this.#moments.push(momentOf(data, this.latest, this.#since(data.takenMs - PERCENTILE_SPAN_MS)));
    this.#answers.push(data);
    const { takenMs } = data;
    this.#moments = this.#moments.filter((one) => one.takenMs >= takenMs - KEPT_MS).slice(-MAX_SAMPLES);
    this.#answers = this.#answers.filter((one) => one.takenMs >= takenMs - ANSWERS_KEPT_MS);
  }

  /** Of one agent, or of all. */
  now(agent: number | undefined): Sample | undefined {
    const moment = this.#moments.at(-1);
    return agent === undefined ? moment?.all : moment?.byAgent.get(agent);
  }

  /** A column of seconds since the epoch, and one for each measure. */
  columns(agent: number | undefined, spanMs: number, measures: readonly Measure[]): (number | null)[][] {
    const from = (this.latest?.takenMs ?? 0) - spanMs;
    const moments = this.#moments.filter(({ takenMs }) => takenMs >= from);
    const samples = moments.map(({ all, byAgent }) => (agent === undefined ? all : byAgent.get(agent)));
    const times = moments.map(({ takenMs }) => takenMs / 1000);
    return [times, ...measures.map((measure) => samples.map((sample) => sample?.[measure] ?? null))];
  }

  /** Counts per bucket: of the last minute (or as much of it as is known), or since each agent's start. */
  buckets(agent: number | undefined, key: Distribution, lastMinute: boolean): number[] {
    const before = lastMinute ? this.#answers[0] : undefined;
    return bucketsBetween(chosen(this.latest, agent), byId(before), key);
  }

  #since(fromMs: number): PageData | undefined {
    return this.#answers.findLast(({ takenMs }) => takenMs <= fromMs) ?? this.#answers[0];
  }
}

export function chosen(data: PageData | undefined, agent: number | undefined): readonly AgentData[] {
  const agents = data?.agents ?? [];
  return agent === undefined ? agents : agents.filter(({ id }) => id === agent);
}

type ById = ReadonlyMap<number, AgentData>;

function bucketsBetween(agents: readonly AgentData[], before: ById, key: Distribution): number[] {
  return countsOfAll(agents.map((agent) => countsSince(before.get(agent.id)?.[key], agent[key])));
}

function byId(data: PageData | undefined): ById {
  return new Map(data?.agents.map((agent) => [agent.id, agent]));
}

function momentOf(data: PageData, before: PageData | undefined, longBefore: PageData | undefined): Moment {
  const then = byId(before);
  const longAgo = byId(longBefore);
  const sameListing = before !== undefined && listing(before) === listing(data);
  const seconds = before === undefined ? 0 : (data.takenMs - before.takenMs) / 1000;
  const rate = (agents: readonly AgentData[], read: (agent: AgentData) => number): number | null => {
    if (seconds <= 0) return null;
    let sum = 0;
    for (const agent of agents) {
      const old = then.get(agent.id);
      // One that was there already, but out of sight, did not do all it ever did just now.
      if (old === undefined && agent.startTimeMs < before!.takenMs) continue;
      if (agent.id === OTHERS && !sameListing) continue;
      sum += Math.max(0, read(agent) - (old === undefined ? 0 : read(old)));
    }
    return sum / seconds;
  };
  const sampleOf = (agents: readonly AgentData[]): Sample => {
    const counts = longBefore === undefined ? [] : bucketsBetween(agents, longAgo, 'durations');
    const bounds = data.bounds.durationUs;
    const percentile = (share: number): number | null => quantile({ bounds, counts }, share)?.value ?? null;
    return {
      tx: rate(agents, ({ txBytes }) => txBytes),
      rx: rate(agents, ({ rxBytes }) => rxBytes),
      requests: rate(agents, requestsOf),
      errors: rate(agents, errorsOf),
      p50: percentile(0.5),
      p90: percentile(0.9),
      p99: percentile(0.99),
      memory: agents.length === 0 ? null : agents.reduce((sum, { memory }) => sum + memory, 0),
      fill: agents.length === 0 ? null : Math.max(...agents.map(({ fill }) => fill)),
      full: rate(agents, ({ foundFull }) => foundFull),
      dropped: rate(agents, ({ dropped }) => dropped),
    };
  };
  const byAgent = new Map(data.agents.map((agent) => [agent.id, sampleOf([agent])]));
  return { takenMs: data.takenMs, all: sampleOf(data.agents), byAgent };
}

function listing({ agents, folded }: PageData): string {
  return `${folded}:${agents.map(({ id }) => id).join()}`;
}
