/** Makes rows from samples of agents: rates and percentiles of the time between two samples. */
import { Interval } from '../figures/rates.js';
import { type Rates, ratesOf } from '../figures/totals.js';
import type { Past } from './points.js';
import type { AgentDetails, AgentTotals, Facts, Sample, Sampler } from './sampler.js';
import { type TimeCounts, type TimeFigures, timeFigures, timesSince } from './time-figures.js';

/** Without an event for this long an agent counts as idle. */
const IDLE_AFTER_MS = 10_000;

type AgentState = 'live' | 'idle' | 'dead';

/** One agent's line. Rates are undefined before two samples have the agent. */
export interface Row extends Rates {
  readonly totals: AgentTotals;
  readonly state: AgentState;
  /** Figures of the transfers that ended between the two samples; undefined if no transfer ended. */
  readonly transferTime: TimeFigures | undefined;
  readonly postTime: TimeFigures | undefined;
  /** Transfer times between the two samples. */
  readonly transferTimes: TimeCounts | undefined;
}

export interface View {
  readonly takenMs: number;
  /** Time between the two samples; undefined at the first, and if the clock was set back. */
  readonly seconds: number | undefined;
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
  readonly parts: readonly Part[];
}

/** Facts of one origin of a view's rows, beside them. */
export interface Part {
  /** `AgentTotals.host` of its rows. */
  readonly host?: string;
  readonly facts: Facts;
}

/** Takes samples as a sampler does, and computes the rates between them. */
export interface Source extends Omit<Sampler, 'sample'> {
  view(): Promise<View>;
}

export class Tracker {
  #before: Sample | undefined;

  add(sample: Sample): View {
    const interval = new Interval(this.#before, sample);
    const rows = sample.agents.map((agent) => rowOf(agent, interval));
    this.#before = sample;
    const { takenMs, notes, facts } = sample;
    return { takenMs, seconds: interval.seconds, rows, notes, parts: [{ facts }] };
  }
}

function rowOf(totals: AgentTotals, interval: Interval<AgentTotals>): Row {
  const increase = (key: 'transferTimes' | 'postTimes'): TimeCounts | undefined =>
    interval.seconds === undefined ? undefined : interval.increases([totals], (one) => one[key], timesSince)[0];
  const [transferTimes, postTimes] = [increase('transferTimes'), increase('postTimes')];
  return {
    totals,
    state: stateOf(totals),
    ...ratesOf(interval, [totals]),
    transferTimes,
    transferTime: transferTimes && timeFigures(transferTimes),
    postTime: postTimes && timeFigures(postTimes),
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

/** The rates of one sampler. */
export class Tracked implements Source {
  readonly name: string;
  readonly #sampler: Sampler;
  readonly #tracker = new Tracker();

  constructor(sampler: Sampler) {
    this.name = sampler.name;
    this.#sampler = sampler;
  }

  async view(): Promise<View> {
    return this.#tracker.add(await this.#sampler.sample());
  }

  details(id: string): Promise<AgentDetails | undefined> {
    return this.#sampler.details(id);
  }

  pasts(): Promise<readonly Past[]> {
    return this.#sampler.pasts();
  }

  doctorArguments(id?: string): readonly (readonly string[])[] {
    return this.#sampler.doctorArguments(id);
  }

  noAgents(): Error {
    return this.#sampler.noAgents();
  }

  close(): void {
    this.#sampler.close();
  }
}
