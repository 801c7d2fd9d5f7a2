/** Weight of an agent's problem in the order of rows. Pure. */
import { STATES } from '../../view/verdict/shapes.js';
import type { AgentState } from '../../view/model/agent-model.js';
import type { Verdict } from '../../view/verdict/types.js';
import type { TopRow } from '../tracker.js';

const PROBLEMS: readonly AgentState[] = (Object.keys(STATES) as AgentState[]).filter(
  (state) => state !== 'live' && state !== 'idle' && state !== 'unknown',
);

/** Below 0 for an agent with a problem: the smaller, the worse. */
export function weightOf({ states }: Verdict, { agent: { id } }: TopRow): number {
  const state = states.get(id)?.state;
  const place = state === undefined ? -1 : PROBLEMS.indexOf(state);
  return place === -1 ? 0 : place - PROBLEMS.length;
}
