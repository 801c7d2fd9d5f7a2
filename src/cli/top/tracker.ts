/** From samples to what is shown: rates and percentiles of the time between two, and their history. Pure. */
import { bucketIncrease, increase, type Quantile, quantile } from '../figures/quantile.js';
import type { AgentTotals, Sample } from './totals.js';

/** Without an event for this long an agent counts as idle. */
const IDLE_AFTER_MS = 10_000;
/** More than any sparkline shows. */
const HISTORY_LENGTH = 60;

export type AgentState = 'live' | 'idle' | 'dead';

/** One agent's line. Rates are per second; undefined before two samples have the agent. */
export interface Row {
  readonly totals: AgentTotals;
  readonly state: AgentState;
  readonly tx: number | undefined;
  readonly rx: number | undefined;
  readonly requests: number | undefined;
  readonly errors: number | undefined;
  /** Microseconds; undefined where no transfer ended. */
  readonly p50: Quantile | undefined;
  readonly p99: Quantile | undefined;
  readonly post99: Quantile | undefined;
  /** tx and rx together, bytes per second, oldest first. */
  readonly history: readonly number[];
}

export interface View {
  readonly takenMs: number;
  /** Between the two samples; undefined at the first. */
  readonly seconds: number | undefined;
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

export class Tracker {
  #before: Sample | undefined;
  #histories = new Map<string, number[]>();

  add(sample: Sample): View {
    const before = this.#before;
    const elapsedMs = before === undefined ? 0 : sample.takenMs - before.takenMs;
    // The clock may have been set back: then there is no rate, but not a wrong one.
    const seconds = elapsedMs > 0 ? elapsedMs / 1000 : undefined;
    const old = new Map(before?.agents.map((agent) => [agent.id, agent]));
    const histories = new Map<string, number[]>();
    const rows = sample.agents.map((agent) => {
      const row = rowOf(old.get(agent.id), agent, seconds, this.#histories.get(agent.id) ?? []);
      histories.set(agent.id, [...row.history]);
      return row;
    });
    this.#histories = histories;
    this.#before = sample;
    return { takenMs: sample.takenMs, seconds, rows, notes: sample.notes };
  }
}

function rowOf(
  before: AgentTotals | undefined,
  totals: AgentTotals,
  seconds: number | undefined,
  past: readonly number[],
): Row {
  const rate = (key: 'txBytes' | 'rxBytes' | 'requests' | 'errors'): number | undefined =>
    seconds === undefined || before === undefined ? undefined : increase(before[key], totals[key]) / seconds;
  const share = (key: 'transferTimes' | 'postTimes', share: number): Quantile | undefined => {
    const since = seconds === undefined || before === undefined ? undefined : bucketIncrease(before[key], totals[key]);
    return since && quantile(since, share);
  };
  const tx = rate('txBytes');
  const rx = rate('rxBytes');
  return {
    totals,
    state: stateOf(totals),
    tx,
    rx,
    requests: rate('requests'),
    errors: rate('errors'),
    p50: share('transferTimes', 0.5),
    p99: share('transferTimes', 0.99),
    post99: share('postTimes', 0.99),
    history: tx === undefined || rx === undefined ? past : [...past, tx + rx].slice(-HISTORY_LENGTH),
  };
}

function stateOf({ life, idleMs }: AgentTotals): AgentState {
  if (life === 'dead') return 'dead';
  return idleMs !== undefined && idleMs >= IDLE_AFTER_MS ? 'idle' : 'live';
}

/** All rows as one. Percentiles of several agents do not add up to one: there are none. */
export interface Overall {
  readonly tx: number | undefined;
  readonly rx: number | undefined;
  readonly requests: number | undefined;
  readonly errors: number | undefined;
  readonly lost: number;
  readonly lostMore: boolean;
}

export function overall(rows: readonly Row[]): Overall {
  const sum = (key: 'tx' | 'rx' | 'requests' | 'errors'): number | undefined =>
    rows.some((row) => row[key] !== undefined) || rows.length === 0
      ? rows.reduce((all, row) => all + (row[key] ?? 0), 0)
      : undefined;
  return {
    tx: sum('tx'),
    rx: sum('rx'),
    requests: sum('requests'),
    errors: sum('errors'),
    lost: rows.reduce((all, { totals }) => all + totals.lost, 0),
    lostMore: rows.some(({ totals }) => totals.lostMore),
  };
}
