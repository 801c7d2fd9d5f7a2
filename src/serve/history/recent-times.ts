/** Percentiles of each agent's times in the last ten seconds, or of its last flush if it flushes rarely. Pure. */
import { exponentialCount, exponentialSince, exponentialSum, type ExponentialTally } from '../../ground/exponential.js';
import { type Percentiles, percentilesOf } from '../../view/figures/percentiles.js';
import { LATE } from '../../view/figures/slow-flushes.js';
import type { ServedAgent } from '../../view/model/agent-model.js';

/** Two spans of this length are kept, so that percentiles are of the last five to ten seconds. */
const SPAN_MS = 5000;

export type TimeKind = 'transferTimesUs' | 'postTimesUs';
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

/** Returns true if a time of this length may have no flush. */
function isRare(flushIntervalMs: number | undefined): flushIntervalMs is number {
  return flushIntervalMs !== undefined && flushIntervalMs > SPAN_MS;
}

/** Counts at the last flush of an agent, and at the one before. */
interface Flush {
  readonly before: Kept | undefined;
  readonly last: Kept;
  readonly seenMs: number;
}

export class RecentTimes {
  #older: Baseline | undefined;
  #newer: Baseline | undefined;
  /** Those of the newer baseline. */
  #agents: readonly ServedAgent[] | undefined;
  /** Agents that flush rarely, by id. */
  #flushes = new Map<number, Flush>();
  #takenMs = -Infinity;

  take(takenMs: number, agents: readonly ServedAgent[]): void {
    this.#takenMs = takenMs;
    this.#noteFlushes(agents);
    if (this.#newer !== undefined && takenMs - this.#newer.takenMs < SPAN_MS) return;
    const before = this.#newer;
    // The same array again has the same counts.
    const kept = (agent: ServedAgent) => [agent.id, keptOf(agent, before?.agents.get(agent.id))] as const;
    const counts = agents === this.#agents ? before!.agents : new Map(agents.map(kept));
    this.#older = before;
    this.#newer = { takenMs, agents: counts };
    this.#agents = agents;
  }

  /** Returns undefined without a transfer. */
  of(agent: ServedAgent, kind: TimeKind): Percentiles | undefined {
    const times = this.#since(agent, kind);
    return times && percentilesOf(times);
  }

  /** Returns the percentiles over all transfers of the agents. */
  ofAll(agents: readonly ServedAgent[], kind: TimeKind): Percentiles | undefined {
    const all = exponentialSum(agents.flatMap((agent) => this.#since(agent, kind) ?? []));
    return all && percentilesOf(all);
  }

  #since(agent: ServedAgent, kind: TimeKind): ExponentialTally | undefined {
    const now = agent[kind];
    const baseline = this.#older ?? this.#newer;
    if (now === undefined || baseline === undefined) return undefined;
    const { before, seenMs } = this.#flushes.get(agent.id) ?? {};
    if (before !== undefined && isRare(agent.flushIntervalMs)) {
      return this.#takenMs - seenMs! > LATE * agent.flushIntervalMs ? undefined : grownSince(before[kind], now);
    }
    if (!baseline.agents.has(agent.id) && agent.startTimeMs >= baseline.takenMs) return now;
    const earlier = (baseline.agents.get(agent.id) ?? this.#newer?.agents.get(agent.id))?.[kind];
    return grownSince(earlier, now);
  }

  #noteFlushes(agents: readonly ServedAgent[]): void {
    const known = this.#flushes;
    this.#flushes = new Map();
    for (const agent of agents) {
      const { id, flushIntervalMs } = agent;
      if (isRare(flushIntervalMs)) this.#flushes.set(id, this.#flushOf(agent, flushIntervalMs, known.get(id)));
    }
  }

  #flushOf(agent: ServedAgent, intervalMs: number, known: Flush | undefined): Flush {
    const last = keptOf(agent, known?.last);
    const seenMs = this.#takenMs;
    if (known === undefined) return { before: undefined, last, seenMs };
    if (last.transferTimesUs === known.last.transferTimesUs && last.postTimesUs === known.last.postTimesUs)
      return known;
    // Two samples may share a flush.
    return seenMs - known.seenMs < intervalMs / 2 ? { ...known, last } : { before: known.last, last, seenMs };
  }
}

/** Returns undefined without a new value. */
function grownSince(earlier: Counts | undefined, now: ExponentialTally): ExponentialTally | undefined {
  if (earlier === undefined || exponentialCount(now) === earlier.total) return undefined;
  return exponentialSince(earlier.tally, now);
}

function keptOf({ transferTimesUs, postTimesUs }: ServedAgent, before: Kept | undefined): Kept {
  return {
    transferTimesUs: countsOf(transferTimesUs, before?.transferTimesUs),
    postTimesUs: countsOf(postTimesUs, before?.postTimesUs),
  };
}

/** Returns a copy: the counts of a snapshot would keep its memory. Without a new value it is `before`. */
function countsOf(now: ExponentialTally | undefined, before: Counts | undefined): Counts | undefined {
  if (now === undefined) return undefined;
  const total = exponentialCount(now);
  return before?.total === total ? before : { tally: { ...now, counts: new Float64Array(now.counts) }, total };
}
