/** History of the page: rates between answers for ten minutes, and whole answers for one minute. Pure. */
import { exponentialSince, exponentialSum, type ExponentialTally } from '../../../exponential.js';
import { type AgentData, type AgentsAnswer, OTHERS } from '../../api/answer.js';
import { type Percentiles, percentilesOf } from '../../figures/percentiles.js';
import { Interval } from '../../figures/rates.js';

const KEPT_MS = 10 * 60_000;
const MAX_MOMENTS = 700;
/** Span of the distributions of the last minute, which come from whole answers. */
export const ANSWERS_KEPT_MS = 60_000;
/** Time behind a percentile. Fewer seconds hold too few transfers for a p99. */
export const PERCENTILE_SPAN_MS = 10_000;

/**
 * Measures of an agent or of all. tx and rx: bytes per second; memory: bytes; p50, p90, p99, max: microseconds, over the last
 * ten seconds; fill: 0 to 1; full: drains per second that found a ring full; the others: per second. Null: unknown, because
 * nothing happened or there is no earlier answer.
 */
export type Measures = Readonly<Record<Measure, number | null>>;
export type Measure = keyof typeof COUNTERS | keyof Percentiles | 'memory' | 'fill';
export type Distribution = 'transferTimesUs' | 'postTimesUs' | 'txSizes' | 'rxSizes';

interface Moment {
  readonly takenMs: number;
  readonly all: Measures;
  readonly byAgent: ReadonlyMap<number, Measures>;
}

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
  #answers: AgentsAnswer[] = [];

  get latest(): AgentsAnswer | undefined {
    return this.#answers.at(-1);
  }

  add(data: AgentsAnswer): void {
    const { takenMs } = data;
    const before = this.latest;
    if (before !== undefined && (before.startedMs !== data.startedMs || before.takenMs > takenMs)) {
      this.#moments = [];
      this.#answers = [];
    }
    if (before?.takenMs === takenMs) return;
    const last = this.latest;
    this.#answers.push(data);
    this.#moments.push(momentOf(data, last, this.#answerBefore(PERCENTILE_SPAN_MS)));
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

  /** Returns the counts of this time, or of a shorter known time; without a time those since each agent's start. */
  counts(agent: number | undefined, key: Distribution, spanMs?: number): ExponentialTally | undefined {
    if (this.latest === undefined) return undefined;
    const before = spanMs === undefined ? undefined : this.#answerBefore(spanMs);
    return countsOf(intervalOf(before, this.latest), agentsOf(this.latest, agent), key);
  }

  #answerBefore(spanMs: number): AgentsAnswer | undefined {
    const fromMs = (this.latest?.takenMs ?? 0) - spanMs;
    return this.#answers.findLast((one) => one.takenMs <= fromMs) ?? this.#answers[0];
  }
}

/** Returns one agent, or all. */
export function agentsOf({ agents }: AgentsAnswer, agent: number | undefined): readonly AgentData[] {
  return agent === undefined ? agents : agents.filter(({ id }) => id === agent);
}

/** Returns the time between two answers. Sums of unlisted agents can be compared only if both answers list the same agents. */
function intervalOf(before: AgentsAnswer | undefined, data: AgentsAnswer): Interval<AgentData> {
  const isSameListing = before !== undefined && listing(before) === listing(data);
  return new Interval(before, data, (now, then) => {
    if (now.id !== OTHERS) return true;
    return isSameListing && Object.values(COUNTERS).every((counter) => counter(now) >= counter(then));
  });
}

function countsOf(
  interval: Interval<AgentData>,
  agents: readonly AgentData[],
  key: Distribution,
): ExponentialTally | undefined {
  return exponentialSum(interval.increases<ExponentialTally>(agents, (agent) => agent[key], exponentialSince));
}

function listing({ agents, folded }: AgentsAnswer): string {
  return `${folded}:${agents.map(({ id }) => id).join()}`;
}

const NO_PERCENTILES = { p50: null, p90: null, p99: null, max: null };

/** `spanBefore`: the answer at the start of the time that percentiles span. */
function momentOf(data: AgentsAnswer, before: AgentsAnswer | undefined, spanBefore: AgentsAnswer | undefined): Moment {
  const interval = intervalOf(before, data);
  const span = intervalOf(spanBefore, data);
  const measuresOf = (agents: readonly AgentData[]): Measures => {
    const rate = (measure: keyof typeof COUNTERS): number | null =>
      interval.seconds === undefined ? null : (interval.rate(agents, COUNTERS[measure]) ?? 0);
    const times = countsOf(span, agents, 'transferTimesUs');
    const known = <T>(value: T): T | null => (agents.length === 0 ? null : value);
    return {
      tx: rate('tx'),
      rx: rate('rx'),
      requests: rate('requests'),
      errors: rate('errors'),
      ...((times && percentilesOf(times)) ?? NO_PERCENTILES),
      memory: known(agents.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)),
      fill: known(Math.max(...agents.map(({ fill }) => fill))),
      full: rate('full'),
      dropped: rate('dropped'),
    };
  };
  const byAgent = new Map(data.agents.map((agent) => [agent.id, measuresOf([agent])]));
  return { takenMs: data.takenMs, all: measuresOf(data.agents), byAgent };
}
