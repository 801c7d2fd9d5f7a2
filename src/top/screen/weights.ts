/** Weight of an agent's problem in the order of rows. Pure. */
import { levelOf, STATES } from '../../view/verdict/shapes.js';
import type { AgentState } from '../../view/model/agent-model.js';
import type { Verdict } from '../../view/verdict/types.js';
import type { TopRow } from '../tracker.js';

const PROBLEMS: readonly AgentState[] = (Object.keys(STATES) as AgentState[]).filter(
  (state) => state !== 'live' && state !== 'idle' && state !== 'unknown',
);

/**
 * Returns the weight of each row: below 0 for an agent with a problem, the smaller, the worse; above 0 for one that ended without
 * an alarm.
 */
export function weightsIn({ states, findings }: Verdict): (row: TopRow) => number {
  const alarms = findings.filter((finding) => finding.kind === 'ended' && levelOf(finding) === 'alarm');
  const missing = new Set(alarms.flatMap(({ agents }) => agents));
  return ({ agent: { id } }) => {
    const state = states.get(id)?.state;
    if (state === 'ended' && !missing.has(id)) return 1;
    const place = state === undefined ? -1 : PROBLEMS.indexOf(state);
    return place === -1 ? 0 : place - PROBLEMS.length;
  };
}
