/** Totals of agents about a minute ago: what has grown since then is of the last minute. */
import { increase } from '../../../exact.js';
import type { AgentTotals } from '../sampler.js';
import { type TimeCounts, timesSince } from '../time-figures.js';

const SPAN_MS = 60_000;
/** Time between two of the kept totals. */
const STEP_MS = 5_000;

/** Counts of one agent since a time. */
export interface Recent {
  /** Length of the time, milliseconds: a minute to 65 s, and less while top has run for less. */
  readonly spanMs: number;
  readonly transferTimes: TimeCounts | undefined;
  readonly postTimes: TimeCounts | undefined;
  readonly errors: number;
  readonly errorsByStatus: Readonly<Record<string, number>>;
}

interface Kept {
  readonly takenMs: number;
  /** By id. */
  readonly agents: ReadonlyMap<string, AgentTotals>;
}

export class LastMinute {
  /** Oldest first. Only the first one may be older than a minute. */
  #kept: readonly Kept[] = [];

  add(takenMs: number, agents: readonly AgentTotals[]): void {
    const lastMs = this.#kept.at(-1)?.takenMs ?? -Infinity;
    // The clock was set back.
    if (takenMs < lastMs) this.#kept = [];
    else if (takenMs - lastMs < STEP_MS) return;
    const kept = [...this.#kept, { takenMs, agents: new Map(agents.map((totals) => [totals.id, totals])) }];
    const first = kept.findLastIndex((one) => takenMs - one.takenMs >= SPAN_MS);
    this.#kept = kept.slice(Math.max(0, first));
  }

  copy(): LastMinute {
    const copy = new LastMinute();
    copy.#kept = this.#kept;
    return copy;
  }

  /** Returns what has grown up to `nowMs`; undefined for an agent that was not there before. */
  of(now: AgentTotals, nowMs: number): Recent | undefined {
    const kept = this.#kept.find(({ agents }) => agents.has(now.id));
    const before = kept?.agents.get(now.id);
    if (kept === undefined || before === undefined || kept.takenMs >= nowMs) return undefined;
    const times = (key: 'transferTimes' | 'postTimes'): TimeCounts | undefined =>
      now[key] && timesSince(before[key], now[key]);
    const { errorsByStatus = {} } = now;
    const statuses = Object.entries(errorsByStatus).map(
      ([status, count]) => [status, Number(increase(count, before.errorsByStatus?.[status]))] as const,
    );
    return {
      spanMs: nowMs - kept.takenMs,
      transferTimes: times('transferTimes'),
      postTimes: times('postTimes'),
      errors: Number(increase(now.errors, before.errors)),
      errorsByStatus: Object.fromEntries(statuses),
    };
  }
}
