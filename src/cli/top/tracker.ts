/** From samples of agents to rows: rates and percentiles of the time between two samples, and their history. Pure. */
import type { Exact } from '../../exact.js';
import type { AgentLife, HistogramTally } from '../../tally.js';
import { Interval, type Quantile, quantile, type Sample as Samples } from '../figures/rates.js';
import { type Rates, ratesOf } from '../figures/totals.js';

/** Without an event for this long an agent counts as idle. */
const IDLE_AFTER_MS = 10_000;
/** More than any sparkline shows. */
const HISTORY_LENGTH = 60;

/** Running totals of one agent, up to the time of the sample. */
export interface AgentTotals {
  /** The same in every sample, and no other agent's. */
  readonly id: string;
  readonly agent: string;
  /** Directory of its ring, or host, where the name alone is not unique. */
  readonly place?: string;
  readonly life: AgentLife;
  readonly pid?: number;
  readonly txBytes: Exact;
  readonly rxBytes: Exact;
  /** Finished transfers, both directions. */
  readonly requests: Exact;
  readonly errors: number;
  /** Events that the agent reports as dropped. */
  readonly lost: number;
  /** True when more may be lost: its ring was found full, and a ring counts nothing. */
  readonly lostMore: boolean;
  /** True when these numbers are known to be too low. */
  readonly missed: boolean;
  /** Microseconds. */
  readonly transferTimes?: HistogramTally | undefined;
  readonly postTimes?: HistogramTally | undefined;
  /** Highest share of the ring that was found filled lately, 0 to 1. */
  readonly fill?: number;
  /** Milliseconds since its last event, or since it is observed. */
  readonly idleMs?: number;
  /** An old file, probably: empty, or left by a process that ended, and without new events. */
  readonly unused: boolean;
}

export interface Sample extends Samples<AgentTotals> {
  /** For the user, beside the numbers; the most important one first. */
  readonly notes: readonly string[];
}

/** Takes samples of agents, from rings or from an exposition. */
export interface Sampler {
  /** Origin of the numbers, for the header: directories, or an address. */
  readonly name: string;
  /** @throws Failure when there is nothing to read at all. */
  sample(): Promise<Sample>;
  /** Failure for a command that ends without having found an agent. */
  noAgents(): Error;
  close(): void;
}

type AgentState = 'live' | 'idle' | 'dead';

/** One agent's line. Rates are undefined before two samples have the agent. */
export interface Row extends Rates {
  readonly totals: AgentTotals;
  readonly state: AgentState;
  /** Microseconds. Undefined where no transfer ended. */
  readonly p50: Quantile | undefined;
  readonly p99: Quantile | undefined;
  readonly post99: Quantile | undefined;
  /** tx and rx together, bytes per second, oldest first. */
  readonly history: readonly number[];
}

export interface View {
  readonly takenMs: number;
  /** Time between the two samples. Undefined at the first, and where the clock was set back. */
  readonly seconds: number | undefined;
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

export class Tracker {
  #before: Sample | undefined;
  #histories: ReadonlyMap<string, readonly number[]> = new Map();

  add(sample: Sample): View {
    const interval = new Interval(this.#before, sample);
    const rows = sample.agents.map((agent) => rowOf(agent, interval, this.#histories.get(agent.id) ?? []));
    this.#histories = new Map(rows.map(({ totals, history }) => [totals.id, history]));
    this.#before = sample;
    return { takenMs: sample.takenMs, seconds: interval.seconds, rows, notes: sample.notes };
  }
}

function rowOf(totals: AgentTotals, interval: Interval<AgentTotals>, past: readonly number[]): Row {
  const percentile = (key: 'transferTimes' | 'postTimes', share: number): Quantile | undefined => {
    const bounds = totals[key]?.bounds;
    if (interval.seconds === undefined || bounds === undefined) return undefined;
    return quantile({ bounds, counts: interval.counts([totals], (one) => one[key]?.counts) }, share);
  };
  const rates = ratesOf(interval, [totals]);
  const { tx, rx } = rates;
  return {
    totals,
    state: stateOf(totals),
    ...rates,
    p50: percentile('transferTimes', 0.5),
    p99: percentile('transferTimes', 0.99),
    post99: percentile('postTimes', 0.99),
    history: tx === undefined || rx === undefined ? past : [...past, tx + rx].slice(-HISTORY_LENGTH),
  };
}

function stateOf({ life, idleMs }: AgentTotals): AgentState {
  if (life === 'dead') return 'dead';
  return idleMs !== undefined && idleMs >= IDLE_AFTER_MS ? 'idle' : 'live';
}

/** Returns all rows as one, without percentiles: those of several agents cannot be added. */
export function overall(rows: readonly Row[]) {
  const total = (key: keyof Rates): number | undefined =>
    rows.some((row) => row[key] !== undefined) || rows.length === 0
      ? rows.reduce((all, row) => all + (row[key] ?? 0), 0)
      : undefined;
  return {
    tx: total('tx'),
    rx: total('rx'),
    requests: total('requests'),
    errors: total('errors'),
    lost: rows.reduce((all, { totals }) => all + totals.lost, 0),
    lostMore: rows.some(({ totals }) => totals.lostMore),
  };
}
