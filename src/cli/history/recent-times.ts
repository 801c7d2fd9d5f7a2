/** Percentiles of each agent's times in the last ten seconds. Pure. */
import { exponentialCount, exponentialSince, exponentialSum, type ExponentialTally } from '../../exponential.js';
import { type Percentiles, percentilesOf } from '../figures/percentiles.js';
import type { AgentReading } from './reading.js';

/** Two spans of this length are kept, so that percentiles are of the last five to ten seconds. */
const SPAN_MS = 5000;

const KINDS = ['transferTimes', 'postTimes'] as const;
export type TimeKind = (typeof KINDS)[number];
type Kept = Readonly<Record<TimeKind, ExponentialTally | undefined>>;

interface Baseline {
  readonly takenMs: number;
  readonly agents: ReadonlyMap<number, Kept>;
}

export class RecentTimes {
  #older: Baseline | undefined;
  #newer: Baseline | undefined;

  /** Takes a sample of all agents. */
  take(takenMs: number, readings: readonly AgentReading[]): void {
    if (this.#newer !== undefined && takenMs - this.#newer.takenMs < SPAN_MS) return;
    const before = this.#newer?.agents;
    const agents = new Map(
      readings.map((reading) => [reading.agent.id, keptOf(reading, before?.get(reading.agent.id))]),
    );
    this.#older = this.#newer;
    this.#newer = { takenMs, agents };
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
    return exponentialCount(earlier) === exponentialCount(now) ? undefined : exponentialSince(earlier, now);
  }
}

/** Returns copies: the counts of a snapshot would keep its memory. Without a new value they are those of `before`. */
function keptOf({ totals }: AgentReading, before: Kept | undefined): Kept {
  const copies = KINDS.map((kind) => {
    const now = totals[kind];
    const earlier = before?.[kind];
    if (now === undefined) return [kind, undefined];
    const isSame = earlier !== undefined && exponentialCount(earlier) === exponentialCount(now);
    return [kind, isSame ? earlier : { ...now, counts: new Float64Array(now.counts) }];
  });
  return Object.fromEntries(copies) as Kept;
}
