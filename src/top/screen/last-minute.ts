/** Totals of agents about a minute ago: what has grown since then is of the last minute. */
import { increase } from '../../ground/exact.js';
import { type TimeCounts, timesSince } from '../../view/figures/time-figures.js';
import { errorsOf } from '../../view/model/agent-model.js';
import { errorsByStatus, type TopAgent } from '../sampler.js';

const SPAN_MS = 60_000;
/** Time between two of the kept totals. */
const STEP_MS = 5_000;

/** Counts of one agent since a time. */
export interface Recent {
  /** Length of the time, milliseconds: a minute to 65 s, and less while top has run for less. */
  readonly spanMs: number;
  readonly transferTimesUs: TimeCounts | undefined;
  readonly postTimesUs: TimeCounts | undefined;
  readonly errors: number;
  readonly errorsByStatus: Readonly<Record<string, number>>;
}

interface Kept {
  readonly takenMs: number;
  /** By id. */
  readonly agents: ReadonlyMap<string, TopAgent>;
}

export class LastMinute {
  /** Oldest first. Only the first one may be older than a minute. */
  #kept: readonly Kept[] = [];

  add(takenMs: number, agents: readonly TopAgent[]): void {
    const lastMs = this.#kept.at(-1)?.takenMs ?? -Infinity;
    // The clock was set back.
    if (takenMs < lastMs) this.#kept = [];
    else if (takenMs - lastMs < STEP_MS) return;
    const kept = [...this.#kept, { takenMs, agents: new Map(agents.map((agent) => [agent.id, agent])) }];
    const first = kept.findLastIndex((one) => takenMs - one.takenMs >= SPAN_MS);
    this.#kept = kept.slice(Math.max(0, first));
  }

  copy(): LastMinute {
    const copy = new LastMinute();
    copy.#kept = this.#kept;
    return copy;
  }

  /** Returns what has grown up to `nowMs`; undefined for an agent that was not there before. */
  of(now: TopAgent, nowMs: number): Recent | undefined {
    const kept = this.#kept.find(({ agents }) => agents.has(now.id));
    const before = kept?.agents.get(now.id);
    if (kept === undefined || before === undefined || kept.takenMs >= nowMs) return undefined;
    const times = (key: 'transferTimesUs' | 'postTimesUs'): TimeCounts | undefined =>
      now[key] && timesSince(before[key], now[key]);
    const earlier = errorsByStatus(before);
    const statuses = Object.entries(errorsByStatus(now)).map(
      ([status, count]) => [status, Number(increase(count, earlier[status]))] as const,
    );
    return {
      spanMs: nowMs - kept.takenMs,
      transferTimesUs: times('transferTimesUs'),
      postTimesUs: times('postTimesUs'),
      errors: Number(increase(errorsOf(now), errorsOf(before))),
      errorsByStatus: Object.fromEntries(statuses),
    };
  }
}
