/** Finds the ends of agents, and what was seen of each. Pure. */
import type { AgentLife } from '../../ground/tally.js';
import { type AgentId, type AgentModel, errorsOf, requestsOf } from '../model/agent-model.js';
import { type OpenEnd, placeOfAgent, Succession } from './succession.js';
import { PRESENT_MS } from './trouble-watch.js';
import type { EndedAgent } from './types.js';

/** For this long an end is kept, unless a setting says otherwise. */
export const ENDED_KEPT_MS = 60 * 60_000;
/** A crash loop of seconds must not take all memory. */
export const MOST_ENDED = 1000;

/** An end that was found in a sample. */
export type End<Id extends AgentId = AgentId> = EndedAgent & { readonly id: Id };

interface Seen {
  readonly firstMs: number;
  agent: AgentModel;
  life: AgentLife;
  pid?: number;
  moved: number;
  errors: number;
  /** Time of the last sample in which bytes or transfers had grown. */
  movedMs?: number;
  /** Failed operations without a pause of a minute. */
  failing?: { readonly sinceMs: number; readonly before: number; lastMs: number };
}

interface KeptEnd<Id extends AgentId> {
  readonly seen: Omit<End<Id>, 'successor' | 'endsOfPlace'>;
  /** Gets its successor later. */
  readonly open: OpenEnd;
}

export class EndWatch<Id extends AgentId = AgentId> {
  readonly #keptMs: number;
  readonly #goneIsEnded: boolean;
  readonly #succession = new Succession<Id>();
  #beganMs: number | undefined;
  #seen = new Map<Id, Seen>();
  /** Newest first. */
  #ends: KeptEnd<Id>[] = [];
  /** Agents that have ended, and when. */
  readonly #endedMs = new Map<Id, number>();

  /** `goneIsEnded`: true if an agent that was alive and is missing in a sample has ended. */
  constructor(keptMs = ENDED_KEPT_MS, goneIsEnded = false) {
    this.#keptMs = keptMs;
    this.#goneIsEnded = goneIsEnded;
  }

  /** Ends, newest first. */
  get ended(): readonly End<Id>[] {
    return this.#ends.map(toEnd);
  }

  /** Returns the time at which the agent was seen to have ended; undefined while it lives, and after that is forgotten. */
  endedMs(id: Id): number | undefined {
    return this.#endedMs.get(id);
  }

  /** Takes a sample of all agents, and returns the ends since the last one. */
  observe(takenMs: number, agents: readonly AgentModel<Id>[]): End<Id>[] {
    const isFirst = this.#beganMs === undefined;
    this.#beganMs ??= takenMs;
    const before = this.#seen;
    this.#seen = new Map();
    const fresh: KeptEnd<Id>[] = [];
    const end = (id: Id, seen: Seen): void => void fresh.push(this.#end(id, seen, takenMs));
    for (const agent of agents) {
      const { id, life } = agent;
      const known = before.get(id);
      before.delete(id);
      const seen = known ?? this.#begun(agent, takenMs);
      const wasAlive = known === undefined ? !isFirst && this.#isYoung(agent) : known.life === 'alive';
      // An agent that started again between two samples ended before. Several writers of a ring look like restarts.
      const restarted = (agent.restarts ?? 0) > (seen.agent.restarts ?? 0) && !agent.suspect && wasAlive;
      if (restarted && life !== 'dead') end(id, seen);
      note(seen, agent, takenMs);
      if (life === 'dead' && wasAlive) end(id, seen);
      if (known === undefined && life !== 'dead') {
        if (isFirst) this.#succession.wasThere(placeOfAgent(agent));
        else this.#appeared(agent, takenMs, false);
      }
      if (life !== 'dead' && this.#endedMs.delete(id)) this.#appeared(agent, takenMs, true);
      this.#seen.set(id, seen);
    }
    if (this.#goneIsEnded) for (const [id, seen] of before) if (seen.life === 'alive') end(id, seen);
    this.#forget(takenMs);
    return fresh.map(toEnd);
  }

  #begun(agent: AgentModel<Id>, takenMs: number): Seen {
    const counts = this.#isYoung(agent) ? { moved: 0, errors: 0 } : countsOf(agent);
    return { firstMs: takenMs, agent, life: agent.life, ...counts };
  }

  /** Returns true for an agent that began after the watch, so that all of its counts are recent. */
  #isYoung({ startTimeMs }: AgentModel<Id>): boolean {
    return startTimeMs !== undefined && startTimeMs >= this.#beganMs!;
  }

  #appeared(agent: AgentModel<Id>, sinceMs: number, isSame: boolean): void {
    this.#succession.appeared({ id: agent.id, name: agent.name, place: placeOfAgent(agent), sinceMs }, isSame);
  }

  #end(id: Id, { firstMs, agent, pid, movedMs, errors, failing }: Seen, endedMs: number): KeptEnd<Id> {
    const { name, memoryBytes = 0, memoryApproximate = true, flushIntervalMs = 0 } = agent;
    const recentMs = Math.max(PRESENT_MS, 2 * flushIntervalMs);
    const isRecent = (timeMs: number | undefined): boolean => timeMs !== undefined && endedMs - timeMs <= recentMs;
    const seen = {
      id,
      name,
      endedMs,
      ...(pid === undefined ? {} : { pid }),
      transferring: isRecent(movedMs),
      ...(movedMs === undefined ? {} : { movedMs }),
      ...(memoryBytes > 0 && !memoryApproximate ? { memoryBytes } : {}),
      ...(failing !== undefined && isRecent(failing.lastMs)
        ? { errors: errors - failing.before, errorsSinceMs: failing.sinceMs }
        : {}),
    };
    const ends = this.#succession.endsWith(id, firstMs, endedMs);
    const open: OpenEnd = { name, endedMs, firstSeenMs: firstMs, place: placeOfAgent(agent), ends };
    this.#succession.ended(id, open);
    const end = { seen, open };
    this.#ends.unshift(end);
    this.#endedMs.set(id, endedMs);
    return end;
  }

  #forget(nowMs: number): void {
    const isKept = (endedMs: number): boolean => endedMs <= nowMs && nowMs - endedMs < this.#keptMs;
    this.#ends = this.#ends.filter(({ seen }) => isKept(seen.endedMs)).slice(0, MOST_ENDED);
    const ids = new Set(this.#ends.map(({ seen }) => seen.id));
    for (const id of this.#endedMs.keys()) if (!ids.has(id) && !this.#seen.has(id)) this.#endedMs.delete(id);
    this.#succession.forget(nowMs, this.#keptMs, (id) => this.#seen.has(id));
  }
}

function countsOf(agent: AgentModel) {
  return { moved: agent.txBytes + agent.rxBytes + requestsOf(agent), errors: errorsOf(agent) };
}

function note(seen: Seen, agent: AgentModel, takenMs: number): void {
  const { moved, errors } = countsOf(agent);
  if (agent.pid !== undefined) seen.pid = agent.pid;
  if (moved > seen.moved) seen.movedMs = takenMs;
  if (errors > seen.errors) {
    const { failing } = seen;
    if (failing !== undefined && takenMs - failing.lastMs < PRESENT_MS) failing.lastMs = takenMs;
    else seen.failing = { sinceMs: takenMs, before: seen.errors, lastMs: takenMs };
  }
  Object.assign(seen, { agent, life: agent.life, moved, errors });
}

function toEnd<Id extends AgentId>({ seen, open: { successor, ends } }: KeptEnd<Id>): End<Id> {
  return { ...seen, ...(successor === undefined ? {} : { successor }), endsOfPlace: ends.length };
}
