/** Makes rows from samples of agents: rates and percentiles of the time between two samples. */
import { Interval } from '../view/figures/rates.js';
import { SlowFlushes } from '../view/figures/slow-flushes.js';
import { type TimeCounts, timeFigures, timesSince } from '../view/figures/time-figures.js';
import { type AgentModel, mayHaveLostMore } from '../view/model/agent-model.js';
import { type AgentRow, type Rates, ratesOf } from '../view/model/rows.js';
import type { TopIncidents } from './incidents.js';
import type { Past } from './points.js';
import type { Facts, TopAgent, TopSample } from './sampler.js';
import type { TopSizes } from './sizes.js';

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

/** Views of agents, from rings or from addresses. */
export interface SampleSource {
  /** Origin of the numbers: directories, or an address. */
  readonly name: string;
  /** Takes a sample. @throws Failure if there is nothing to read at all. */
  view(): Promise<FleetView>;
  /** Returns what else is known of an agent; undefined if it is gone. */
  details(id: string): Promise<AgentModel | undefined>;
  /** Returns the recorded minutes before, of each host that has recorded them. */
  pasts(): Promise<readonly Past[]>;
  /** Returns time by size of all agents, or of one with its distributions. */
  sizes(id?: string): Promise<TopSizes>;
  /** Returns what was found in the last day. */
  incidents(): Promise<TopIncidents>;
  /** Arguments of `nixl-otel doctor` about an agent, or about all that is read: a list for each run. */
  doctorArguments(id?: string): readonly (readonly string[])[];
  /** Failure for a command that ends without having found an agent. */
  noAgents(): Error;
  close(): void;
}

/** Computes the rates between samples. */
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
