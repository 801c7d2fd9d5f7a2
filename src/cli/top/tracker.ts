/** Makes rows from samples of agents: rates and percentiles of the time between two samples, and their history. Pure. */
import type { Exact } from '../../exact.js';
import type { AgentLife } from '../../tally.js';
import { Interval, type Sample as Samples } from '../figures/rates.js';
import { type Rates, ratesOf } from '../figures/totals.js';
import { type TimeCounts, type TimeFigures, timeFigures, timesSince } from './time-figures.js';

/** Without an event for this long an agent counts as idle. */
const IDLE_AFTER_MS = 10_000;
/** More than any sparkline shows. */
const HISTORY_LENGTH = 60;

/** Running totals of one agent, up to the time of the sample. */
export interface AgentTotals {
  /** Identifies the agent in every sample. */
  readonly id: string;
  readonly agent: string;
  /** Directory of its ring, or host, if the name alone is not unique. */
  readonly place?: string;
  /** Time at which the totals were 0, in the time of the samples; absent if unknown. */
  readonly startTimeMs?: number;
  readonly life: AgentLife;
  readonly pid?: number;
  readonly txBytes: Exact;
  readonly rxBytes: Exact;
  /** Finished transfers, both directions. */
  readonly requests: Exact;
  readonly errors: number;
  /** Events that the agent reports as dropped. */
  readonly lost: number;
  /** True if more events may be lost: the ring was found full, and a ring does not count dropped events. */
  readonly lostMore: boolean;
  /** True if these numbers are known to be too low. */
  readonly missed: boolean;
  /** Microseconds. */
  readonly transferTimes?: TimeCounts | undefined;
  readonly postTimes?: TimeCounts | undefined;
  /** Highest recent fill ratio of the ring, 0 to 1. */
  readonly fill?: number;
  /** Milliseconds since its last event, or since the beginning of the observation. */
  readonly idleMs?: number;
  /** True if the file is probably old: no writer and no new event was seen, or its writer ended some time ago. */
  readonly unused: boolean;
}

export interface Sample extends Samples<AgentTotals> {
  /** For the user, beside the numbers; the most important one first. */
  readonly notes: readonly string[];
}

/** Takes samples of agents, from rings or from an address. */
export interface Sampler {
  /** Origin of the numbers, for the header: directories, or an address. */
  readonly name: string;
  /** Takes a sample. @throws Failure if there is nothing to read at all. */
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
  /** Figures of the transfers that ended between the two samples; undefined if no transfer ended. */
  readonly transferTime: TimeFigures | undefined;
  readonly postTime: TimeFigures | undefined;
  /** tx and rx together, bytes per second, oldest first. */
  readonly history: readonly number[];
}

export interface View {
  readonly takenMs: number;
  /** Time between the two samples; undefined at the first, and if the clock was set back. */
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
  const figures = (key: 'transferTimes' | 'postTimes'): TimeFigures | undefined => {
    if (interval.seconds === undefined) return undefined;
    const [times] = interval.increases([totals], (one) => one[key], timesSince);
    return times && timeFigures(times);
  };
  const rates = ratesOf(interval, [totals]);
  const { tx, rx } = rates;
  return {
    totals,
    state: stateOf(totals),
    ...rates,
    transferTime: figures('transferTimes'),
    postTime: figures('postTimes'),
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
