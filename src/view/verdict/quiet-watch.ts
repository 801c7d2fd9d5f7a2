/** Finds agents that had a steady pace and stopped while their process lives. Pure. */
import { type AgentId, type AgentModel, requestsOf } from '../model/agent-model.js';
import { flushesWithoutEvent } from './idle.js';

/** Engines pause for some seconds between batches. */
const LEAST_MS = 30_000;
/** A pause counts from this many of the longest one before on: with random arrivals, none is as long in a year. */
const GAPS = 6;
/** Gaps are remembered for one to two of these times: the rhythm of a load changes. After such a pause it is learned anew. */
const REMEMBERED_MS = 10 * 60_000;
/** A load that has stopped for so long is no news. */
const NOTED_MS = 60 * 60_000;

interface Rhythm {
  moved: number;
  /** First and last sample with a transfer; absent before the first one. */
  firstMs?: number;
  lastMs?: number;
  /** Longest time between two such samples, of now and of the time before. */
  gapMs: number;
  olderGapMs: number;
  turnedMs: number;
}

export class QuietWatch<Id extends AgentId = AgentId> {
  #paces = new Map<Id, Rhythm>();
  #quiet: ReadonlyMap<Id, number> = new Map();

  /** Returns the time of the last transfer of an agent that is quiet. */
  sinceMs(id: Id): number | undefined {
    return this.#quiet.get(id);
  }

  /** Takes a sample of all agents. */
  observe(takenMs: number, agents: readonly AgentModel<Id>[]): void {
    const before = this.#paces;
    this.#paces = new Map();
    const quiet = new Map<Id, number>();
    for (const agent of agents) {
      const moved = agent.txBytes + agent.rxBytes + requestsOf(agent);
      const pace = before.get(agent.id) ?? { moved, gapMs: 0, olderGapMs: 0, turnedMs: takenMs };
      if (moved > pace.moved) noteTransfer(pace, takenMs);
      pace.moved = moved;
      this.#paces.set(agent.id, pace);
      if (agent.life === 'alive' && isQuiet(pace, takenMs, agent.flushIntervalMs)) quiet.set(agent.id, pace.lastMs!);
    }
    this.#quiet = quiet;
  }
}

function noteTransfer(pace: Rhythm, takenMs: number): void {
  const gapMs = takenMs - (pace.lastMs ?? takenMs);
  pace.lastMs = takenMs;
  if (pace.firstMs === undefined || gapMs >= REMEMBERED_MS) {
    Object.assign(pace, { firstMs: takenMs, gapMs: 0, olderGapMs: 0, turnedMs: takenMs });
    return;
  }
  if (takenMs - pace.turnedMs >= REMEMBERED_MS) {
    Object.assign(pace, { olderGapMs: pace.gapMs, gapMs: 0, turnedMs: takenMs });
  }
  pace.gapMs = Math.max(pace.gapMs, gapMs);
}

function isQuiet({ firstMs, lastMs, gapMs, olderGapMs }: Rhythm, nowMs: number, flushIntervalMs?: number): boolean {
  if (firstMs === undefined || lastMs === undefined) return false;
  const fromMs = Math.max(LEAST_MS, GAPS * Math.max(gapMs, olderGapMs), flushesWithoutEvent(flushIntervalMs));
  const silentMs = nowMs - lastMs;
  // A pace is steady if it lasted for longer than the pause that ends it.
  return silentMs >= fromMs && silentMs < NOTED_MS && lastMs - firstMs >= fromMs;
}
