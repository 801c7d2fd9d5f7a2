/** Percentiles of each agent's times in the last ten seconds. Pure. */
import { exponentialCount, exponentialSince, exponentialSum, type ExponentialTally } from '../../exponential.js';
import { type Percentiles, percentilesOf } from '../figures/percentiles.js';
import type { AgentReading } from './reading.js';

/** Two spans of this length are kept, so that percentiles are of the last five to ten seconds. */
const SPAN_MS = 5000;

export type TimeKind = 'transferTimes' | 'postTimes';
/** Copy of the counts of a histogram, and their sum. */
interface Counts {
  readonly tally: ExponentialTally;
  readonly total: number;
}

type Kept = Readonly<Record<TimeKind, Counts | undefined>>;

interface Baseline {
  readonly takenMs: number;
  readonly agents: ReadonlyMap<number, Kept>;
}

export class RecentTimes {
  #older: Baseline | undefined;
  #newer: Baseline | undefined;
  /** Those of the newer baseline. */
  #readings: readonly AgentReading[] | undefined;

  /** Takes a sample of all agents. */
  take(takenMs: number, readings: readonly AgentReading[]): void {
    if (this.#newer !== undefined && takenMs - this.#newer.takenMs < SPAN_MS) return;
    const before = this.#newer;
    // The same array again has the same counts.
    const agents = readings === this.#readings ? before!.agents : countsOfAll(readings, before?.agents);
    this.#older = before;
    this.#newer = { takenMs, agents };
    this.#readings = readings;
  }

  /** Returns undefined without a transfer. */
  of(reading: AgentReading, kind: TimeKind): Percentiles | undefined {
    const times = this.#since(reading, kind);
    return times && percentilesOf(times);
  }

  /** Returns the percentiles over all transfers of the agents. */
  ofAll(readings: readonly AgentReading[], kind: TimeKind): Percentiles | undefined {
    const all = exponentialSum(readings.flatMap((reading) => this.#since(reading, kind) ?? []));
    return all && percentilesOf(all);
  }

  #since({ agent, totals }: AgentReading, kind: TimeKind): ExponentialTally | undefined {
    const now = totals[kind];
    const baseline = this.#older ?? this.#newer;
    if (now === undefined || baseline === undefined) return undefined;
    if (!baseline.agents.has(agent.id) && agent.startTimeMs >= baseline.takenMs) return now;
    const earlier = (baseline.agents.get(agent.id) ?? this.#newer?.agents.get(agent.id))?.[kind];
    if (earlier === undefined) return undefined;
    return exponentialCount(now) === earlier.total ? undefined : exponentialSince(earlier.tally, now);
  }
}

function countsOfAll(readings: readonly AgentReading[], before: Baseline['agents'] | undefined): Baseline['agents'] {
  return new Map(readings.map((reading) => [reading.agent.id, keptOf(reading, before?.get(reading.agent.id))]));
}

function keptOf({ totals }: AgentReading, before: Kept | undefined): Kept {
  return {
    transferTimes: countsOf(totals.transferTimes, before?.transferTimes),
    postTimes: countsOf(totals.postTimes, before?.postTimes),
  };
}

/** Returns a copy: the counts of a snapshot would keep its memory. Without a new value it is `before`. */
function countsOf(now: ExponentialTally | undefined, before: Counts | undefined): Counts | undefined {
  if (now === undefined) return undefined;
  const total = exponentialCount(now);
  return before?.total === total ? before : { tally: { ...now, counts: new Float64Array(now.counts) }, total };
}
