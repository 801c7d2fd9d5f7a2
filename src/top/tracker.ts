/** Makes rows from samples of agents: rates and percentiles of the time between two samples. */
import { Interval } from '../view/figures/rates.js';
import { SlowFlushes } from '../view/figures/slow-flushes.js';
import { type TimeCounts, timeFigures, timesSince } from '../view/figures/time-figures.js';
import { type AgentModel, mayHaveLostMore } from '../view/model/agent-model.js';
import { type AgentRow, type Rates, ratesOf } from '../view/model/rows.js';
import type { Past } from './points.js';
import type { Facts, TopAgent, TopSample, Sampler } from './sampler.js';

/** One agent's line. Its times are those of the transfers that ended between two samples. */
export interface TopRow extends AgentRow<TopAgent> {
  readonly transferTimes: TimeCounts | undefined;
}

export interface FleetView {
  readonly takenMs: number;
  /** Time between the two samples; undefined at the first, and if the clock was set back. */
  readonly seconds: number | undefined;
  readonly rows: readonly TopRow[];
  readonly notes: readonly string[];
  readonly parts: readonly ViewPart[];
}

/** Facts of one origin of a view's rows, beside them. */
export interface ViewPart {
  /** `TopAgent.host` of its rows. */
  readonly host?: string;
  readonly facts: Facts;
}

/** Takes samples as a sampler does, and computes the rates between them. */
export interface SampleSource extends Omit<Sampler, 'sample'> {
  view(): Promise<FleetView>;
}

export class Tracker {
  #before: TopSample | undefined;
  readonly #flushes = new SlowFlushes<TopAgent>();

  add(sample: TopSample): FleetView {
    const interval = new Interval(this.#before, sample, undefined, this.#flushes.take(sample));
    const rows = sample.agents.map((agent) => rowOf(agent, interval));
    this.#before = sample;
    const { takenMs, notes, facts } = sample;
    return { takenMs, seconds: interval.seconds, rows, notes, parts: [{ facts }] };
  }
}

function rowOf(agent: TopAgent, interval: Interval<TopAgent>): TopRow {
  const increase = (key: 'transferTimesUs' | 'postTimesUs'): TimeCounts | undefined =>
    interval.seconds === undefined ? undefined : interval.increases([agent], (one) => one[key], timesSince)[0];
  const [transferTimes, postTimes] = [increase('transferTimesUs'), increase('postTimesUs')];
  return {
    agent,
    ...ratesOf(interval, [agent]),
    transferTimes,
    transferTimeUs: transferTimes && timeFigures(transferTimes),
    postTimeUs: postTimes && timeFigures(postTimes),
  };
}

/** Returns all rows as one, without percentiles: those of several agents cannot be added. */
export function overall(rows: readonly TopRow[]) {
  const total = (key: keyof Rates): number | undefined =>
    rows.some((row) => row[key] !== undefined) || rows.length === 0
      ? rows.reduce((all, row) => all + (row[key] ?? 0), 0)
      : undefined;
  return {
    txBytesPerSecond: total('txBytesPerSecond'),
    rxBytesPerSecond: total('rxBytesPerSecond'),
    requestsPerSecond: total('requestsPerSecond'),
    errorsPerSecond: total('errorsPerSecond'),
    lost: rows.reduce((all, { agent }) => all + agent.lost, 0),
    lostMore: rows.some(({ agent }) => mayHaveLostMore(agent)),
  };
}

/** The rates of one sampler. */
export class Tracked implements SampleSource {
  readonly name: string;
  readonly #sampler: Sampler;
  readonly #tracker = new Tracker();

  constructor(sampler: Sampler) {
    this.name = sampler.name;
    this.#sampler = sampler;
  }

  async view(): Promise<FleetView> {
    return this.#tracker.add(await this.#sampler.sample());
  }

  details(id: string): Promise<AgentModel | undefined> {
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
