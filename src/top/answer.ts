/** Answers of /api/v1/agents as agents of top. Pure. */
import { oneLine } from '../ground/one-line.js';
import type { AgentData, AgentsAnswer } from '../view/answers/answer.js';
import { verdictInput } from '../view/answers/verdict-input.js';
import { withIds } from '../view/slowness/slow-facts.js';
import type { Facts, TopAgent } from './sampler.js';

/** Another process of serve has other agents under the same ids. */
export function idOf({ startedMs }: Pick<AgentsAnswer, 'startedMs'>, id: number | string): string {
  return `${startedMs} ${id}`;
}

/** Returns serve's own id of an agent. */
export function idAtServe(id: string): string {
  return id.slice(id.indexOf(' ') + 1);
}

/** An earlier serve knows less of an agent. */
export function agentsOf(answer: AgentsAnswer): TopAgent[] {
  const { agents, errorStatuses } = answer;
  return agents.map((agent) => ({
    ...agent,
    id: idOf(answer, agent.id),
    lost: (agent as Partial<AgentData>).lost ?? agent.dropped,
    ...(agent.name === oneLine(agent.agent) ? {} : { place: agent.directory }),
    errorStatuses,
    unused: false,
  }));
}

/** Returns the facts of serve beside the totals. An earlier release reports no troubles of its agents. `name`: host and port. */
export function factsOf(answer: AgentsAnswer, name: string): Facts {
  const { agents, ended = [], slowness = [], ...facts } = verdictInput(answer, { name });
  const withId = <Of extends { readonly id: number | string }>(one: Of): Of => ({ ...one, id: idOf(answer, one.id) });
  const found = { ...facts, slowness: slowness.map((fact) => withIds(fact, (id) => idOf(answer, id))) };
  const isWatched = agents.every(({ troubles }) => troubles !== undefined);
  return isWatched ? { ...found, ended: ended.map(withId) } : found;
}
