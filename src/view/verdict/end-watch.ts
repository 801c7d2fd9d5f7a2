/** Finds the ends of agents, and which of them came during transfers. Pure. */
import type { AgentLife } from '../../ground/tally.js';
import { type AgentId, type AgentModel, requestsOf } from '../model/agent-model.js';
import type { EndedAgent } from './types.js';

/** For this long, an agent that ended during transfers is a finding. */
export const ENDED_KEPT_MS = 10 * 60_000;
/** A fleet that ends as a whole needs no line for each agent. */
const MAX_KEPT = 100;

/** An end that was found in a sample. */
export interface End<Id extends AgentId = AgentId> extends EndedAgent {
  readonly id: Id;
  /** True if the agent transferred up to its end and left memory registered. */
  readonly transferring: boolean;
}

interface Seen {
  life: AgentLife;
  requests: number;
  /** Time of the last sample in which a further transfer had finished. */
  transferredMs: number;
  endedMs?: number;
}

export class EndWatch<Id extends AgentId = AgentId> {
  #seen = new Map<Id, Seen>();
  #lastMs = -Infinity;
  #ended: EndedAgent[] = [];

  /** Ends during transfers in the last ten minutes, newest first. */
  get ended(): readonly EndedAgent[] {
    return this.#ended;
  }

  /** Returns the time at which the agent was seen to have ended. */
  endedMs(id: Id): number | undefined {
    return this.#seen.get(id)?.endedMs;
  }

  /** Takes a sample of all agents, and returns the ends since the last one. */
  observe(takenMs: number, agents: readonly AgentModel<Id>[]): End<Id>[] {
    const seen = new Map<Id, Seen>();
    const ends: End<Id>[] = [];
    for (const agent of agents) {
      const { life } = agent;
      const requests = requestsOf(agent);
      const one = this.#seen.get(agent.id) ?? { life, requests, transferredMs: -Infinity };
      if (requests > one.requests) one.transferredMs = takenMs;
      if (life === 'dead' && one.life === 'alive') {
        one.endedMs = takenMs;
        const { id, name } = agent;
        ends.push({ id, name, endedMs: takenMs, transferring: this.#wasTransferring(agent, one) });
      }
      if (life === 'alive' && one.endedMs !== undefined) {
        delete one.endedMs;
        this.#ended = this.#ended.filter(({ id }) => id !== agent.id);
      }
      one.life = life;
      one.requests = requests;
      seen.set(agent.id, one);
    }
    this.#seen = seen;
    this.#lastMs = takenMs;
    const fresh = ends.filter(({ transferring }) => transferring);
    this.#ended = [...fresh.map(({ transferring: _, ...end }) => end), ...this.#ended]
      .filter(({ endedMs }) => endedMs <= takenMs && takenMs - endedMs < ENDED_KEPT_MS)
      .slice(0, MAX_KEPT);
    return ends;
  }

  /** A process that ends as intended deregisters its memory. Missed events would leave memory that is no longer registered. */
  #wasTransferring({ memoryBytes = 0, memoryApproximate = true }: AgentModel, { transferredMs }: Seen): boolean {
    return memoryBytes > 0 && !memoryApproximate && transferredMs >= this.#lastMs;
  }
}
