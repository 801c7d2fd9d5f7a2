/** Counts of an agent that only grow, in one array. Pure. */
import { requestsOf, type ServedAgent } from '../../view/model/agent-model.js';

/** Places of the counts. From ERRORS on there is one for each status. */
export const Counter = { TX: 0, RX: 1, REQUESTS: 2, FULL: 3, DROPPED: 4, ERRORS: 5 } as const;

/** Returns a plain array: a typed one of this size takes several times as long to make. */
export function countersOf(agent: ServedAgent): number[] {
  return [agent.txBytes, agent.rxBytes, requestsOf(agent), agent.foundFull, agent.dropped, ...agent.errors];
}
