/** Texts of findings call an agent by what its engine tells, where that is no other agent's name: engines name agents by UUID. Pure. */
import type { AgentId } from '../model/agent-model.js';
import { labelOfAgent } from '../model/agent-model.js';
import type { VerdictInput } from './types.js';

/** Returns the input with the agents' names for people, by which its texts call them. */
export function calledByLabels(input: VerdictInput): VerdictInput {
  const { agents, ended = [], slowness = [] } = input;
  const labels = uniqueLabels(agents);
  if (labels.size === 0) return input;
  const called = <One extends { readonly id: AgentId; readonly name: string }>(one: One): One => {
    const label = labels.get(one.id);
    return label === undefined ? one : { ...one, name: label };
  };
  const withRank = (fact: (typeof slowness)[number]): typeof fact => {
    const { against } = fact;
    if (against === undefined) return fact;
    return { ...fact, against: { ...against, name: labels.get(against.id) ?? against.name } };
  };
  return {
    ...input,
    agents: agents.map(called),
    ended: ended.map(called),
    slowness: slowness.map((fact) => withRank(called(fact))),
  };
}

/** Several agents of one worker have the same label: theirs are the names of their rings. */
function uniqueLabels(agents: VerdictInput['agents']): ReadonlyMap<AgentId, string> {
  const byLabel = new Map<string, AgentId | undefined>();
  for (const agent of agents) {
    const label = labelOfAgent(agent);
    if (label !== agent.name) byLabel.set(label, byLabel.has(label) ? undefined : agent.id);
  }
  return new Map([...byLabel].flatMap(([label, id]) => (id === undefined ? [] : [[id, label]])));
}
