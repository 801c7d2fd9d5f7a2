/** History of the page: rates between answers for ten minutes, and whole answers for one minute. Pure. */
import { Interval, quantile } from '../../figures/rates.js';
import type { AgentData, PageData } from '../page-data.js';

const KEPT_MS = 10 * 60_000;
const MAX_MOMENTS = 700;
/** Whole answers serve distributions of the last minute. */
const ANSWERS_KEPT_MS = 60_000;
/** Time behind a percentile. Fewer seconds hold too few transfers for a p99. */
const PERCENTILE_SPAN_MS = 10_000;

/**
 * Measures of an agent or of all. tx and rx: bytes per second; memory: bytes; p50, p90, p99: microseconds, over the last ten
 * seconds; fill: 0 to 1; full: drains per second that found a ring full; the others: per second. Null: unknown, because
 * nothing happened or there is no earlier answer.
 */
export type Measures = Readonly<Record<Measure, number | null>>;
export type Measure = keyof typeof COUNTERS | 'p50' | 'p90' | 'p99' | 'memory' | 'fill';
export type Distribution = 'durations' | 'postDurations' | 'txSizes' | 'rxSizes';

interface Moment {
  readonly takenMs: number;
  readonly all: Measures;
  readonly byAgent: ReadonlyMap<number, Measures>;
}

/** Id of the entry that sums up unlisted agents. */
const OTHERS = -1;

export const errorsOf = ({ errors }: AgentData): number => errors.reduce((sum, count) => sum + count, 0);
export const requestsOf = ({ txRequests, rxRequests }: AgentData): number => txRequests + rxRequests;
const COUNTERS = {
  tx: ({ txBytes }) => txBytes,
  rx: ({ rxBytes }) => rxBytes,
  requests: requestsOf,
  errors: errorsOf,
  full: ({ foundFull }) => foundFull,
  dropped: ({ dropped }) => dropped,
} satisfies Record<string, (agent: AgentData) => number>;

export class History {
  #moments: Moment[] = [];
  #answers: PageData[] = [];

  get latest(): PageData | undefined {
    return this.#answers.at(-1);
  }

  add(data: PageData): void {
    const { takenMs } = data;
    const before = this.latest;
    if (before !== undefined && (before.startedMs !== data.startedMs || before.takenMs > takenMs)) {
      this.#moments = [];
      this.#answers = [];
    }
    if (before?.takenMs === takenMs) return;
    const spanBefore = this.#answers.findLast((one) => one.takenMs <= takenMs - PERCENTILE_SPAN_MS) ?? this.#answers[0];
    this.#moments.push(momentOf(data, this.latest, spanBefore));
    this.#answers.push(data);
    this.#moments = this.#moments.filter((one) => one.takenMs >= takenMs - KEPT_MS).slice(-MAX_MOMENTS);
    this.#answers = this.#answers.filter((one) => one.takenMs >= takenMs - ANSWERS_KEPT_MS);
  }

  /** Returns the newest measures of one agent, or of all. */
  now(agent: number | undefined): Measures | undefined {
    const moment = this.#moments.at(-1);
    return agent === undefined ? moment?.all : moment?.byAgent.get(agent);
  }

  /** Returns a column of seconds since the epoch, and one for each measure. */
  columns(agent: number | undefined, spanMs: number, measures: readonly Measure[]): (number | null)[][] {
    const from = (this.latest?.takenMs ?? 0) - spanMs;
    const moments = this.#moments.filter(({ takenMs }) => takenMs >= from);
    const found = moments.map(({ all, byAgent }) => (agent === undefined ? all : byAgent.get(agent)));
    const times = moments.map(({ takenMs }) => takenMs / 1000);
    return [times, ...measures.map((measure) => found.map((one) => one?.[measure] ?? null))];
  }

  /** Returns counts per bucket: of the last minute, or of a shorter known time; or since each agent's start. */
  buckets(agent: number | undefined, key: Distribution, lastMinute: boolean): number[] {
    if (this.latest === undefined) return [];
    const interval = intervalOf(lastMinute ? this.#answers[0] : undefined, this.latest);
    return interval.counts(agentsOf(this.latest, agent), (one) => one[key]);
  }
}

/** Returns one agent, or all. */
export function agentsOf({ agents }: PageData, agent: number | undefined): readonly AgentData[] {
  return agent === undefined ? agents : agents.filter(({ id }) => id === agent);
}

/** Returns the time between two answers. Sums of unlisted agents can be compared only if both answers list the same agents. */
function intervalOf(before: PageData | undefined, data: PageData): Interval<AgentData> {
  const isSameListing = before !== undefined && listing(before) === listing(data);
  return new Interval(before, data, (now, then) => {
    if (now.id !== OTHERS) return true;
    return isSameListing && Object.values(COUNTERS).every((counter) => counter(now) >= counter(then));
  });
}

function listing({ agents, folded }: PageData): string {
  return `${folded}:${agents.map(({ id }) => id).join()}`;
}

/** `spanBefore`: the answer at the start of the time that percentiles span. */
function momentOf(data: PageData, before: PageData | undefined, spanBefore: PageData | undefined): Moment {
  const interval = intervalOf(before, data);
  const span = spanBefore && intervalOf(spanBefore, data);
  const measuresOf = (agents: readonly AgentData[]): Measures => {
    const rate = (measure: keyof typeof COUNTERS): number | null =>
      interval.seconds === undefined ? null : (interval.rate(agents, COUNTERS[measure]) ?? 0);
    const bounds = data.bounds.durationUs;
    const counts = span?.counts(agents, ({ durations }) => durations) ?? [];
    const percentile = (share: number): number | null => quantile({ bounds, counts }, share)?.value ?? null;
    const known = <T>(value: T): T | null => (agents.length === 0 ? null : value);
    return {
      tx: rate('tx'),
      rx: rate('rx'),
      requests: rate('requests'),
      errors: rate('errors'),
      p50: percentile(0.5),
      p90: percentile(0.9),
      p99: percentile(0.99),
      memory: known(agents.reduce((sum, { memory }) => sum + memory, 0)),
      fill: known(Math.max(...agents.map(({ fill }) => fill))),
      full: rate('full'),
      dropped: rate('dropped'),
    };
  };
  const byAgent = new Map(data.agents.map((agent) => [agent.id, measuresOf([agent])]));
  return { takenMs: data.takenMs, all: measuresOf(data.agents), byAgent };
}
