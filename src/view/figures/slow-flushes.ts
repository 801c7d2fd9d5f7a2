/**
 * Agents that flush more rarely than samples are taken: between two flushes their counts stand still. Pure; the live page uses
 * this module, too.
 */
import type { Counted, FlushPair, Sample } from './rates.js';

export interface Flushing extends Counted {
  /** Milliseconds since the last event. */
  readonly idleMs?: number | undefined;
  /** Time between two flushes; absent if unknown. */
  readonly flushIntervalMs?: number | undefined;
}

interface Flush<Agent> {
  readonly agent: Agent;
  readonly atMs: number;
}

/** Rates of agents with a shorter interval are those between two samples. A second, less the error of its measurement. */
const SLOW_MS = 950;
/** Intervals after which a flush is missing: nothing has happened since the last one. */
export const LATE = 1.25;

export function isSlow(flushIntervalMs: number | undefined): flushIntervalMs is number {
  return flushIntervalMs !== undefined && flushIntervalMs >= SLOW_MS;
}

export class SlowFlushes<Agent extends Flushing> {
  #flushes = new Map<Agent['id'], readonly [last: Flush<Agent>, before?: Flush<Agent>]>();

  /** Takes a sample. Returns the last two flushes of each slow agent; undefined while it has shown only one. */
  take({ takenMs, agents }: Sample<Agent>): ReadonlyMap<Agent['id'], FlushPair<Agent> | undefined> {
    const before = this.#flushes;
    const pairs = new Map<Agent['id'], FlushPair<Agent> | undefined>();
    this.#flushes = new Map();
    for (const agent of agents) {
      const { id, idleMs, flushIntervalMs } = agent;
      if (!isSlow(flushIntervalMs) || idleMs === undefined) continue;
      const flushes = flushesAfter(before.get(id), { agent, atMs: takenMs - idleMs }, flushIntervalMs);
      this.#flushes.set(id, flushes);
      const isOver = idleMs > LATE * flushIntervalMs;
      pairs.set(id, isOver ? { now: agent, before: agent, seconds: idleMs / 1000 } : pairOf(flushes));
    }
    return pairs;
  }
}

type Flushes<Agent> = readonly [last: Flush<Agent>, before?: Flush<Agent>];

/** Two drains may share a flush: events soon after the last ones belong to the same one. */
function flushesAfter<Agent>(known: Flushes<Agent> | undefined, now: Flush<Agent>, intervalMs: number): Flushes<Agent> {
  if (known === undefined) return [now];
  const [last, ...earlier] = known;
  return now.atMs - last.atMs < intervalMs / 2 ? [{ ...now, atMs: last.atMs }, ...earlier] : [now, last];
}

function pairOf<Agent>([last, before]: Flushes<Agent>): FlushPair<Agent> | undefined {
  if (before === undefined) return undefined;
  return { now: last.agent, before: before.agent, seconds: (last.atMs - before.atMs) / 1000 };
}
