/** Names of agents for people. */
import { oneLine } from '../../ground/one-line.js';
import type { AgentSnapshot } from '../../ground/tally.js';
import { ambiguousNames } from '../../mapping/index.js';

/** Returns the path where several agents have the same name. */
export function namesOf(agents: readonly AgentSnapshot[]): (agent: AgentSnapshot) => string {
  const ambiguous = ambiguousNames(agents);
  return ({ agent, path }) => oneLine(ambiguous.has(agent) ? path : agent);
}
