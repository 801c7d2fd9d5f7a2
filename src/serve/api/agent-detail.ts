/** Makes the answer about one agent: all that serve knows of it. */
import { oneLine } from '../../ground/one-line.js';
import type { AgentSnapshot } from '../../ground/tally.js';
import { agentData, type AnswerSource, answerOf } from './agents.js';
import type { AgentProcessFacts } from './agent-processes.js';
import type { AgentDetail, AgentsAnswer } from '../../view/answers/answer.js';
import { positionsOf } from '../../shm-bridge/ring.js';

export interface DetailSource extends AnswerSource {
  readonly processOf: (id: number) => AgentProcessFacts;
  /** Returns the configured attributes of the agent's series. */
  readonly attributesOf: (agent: AgentSnapshot) => Readonly<Record<string, unknown>>;
}

/** Returns an answer without agents if there is none with this id. */
export function agentAnswer(source: DetailSource, id: number): AgentsAnswer<AgentDetail> {
  const { agents, snapshot } = source.sample;
  const model = agents.find((agent) => agent.id === id);
  const agent = snapshot.agents.find((one) => one.id === id);
  if (model === undefined) return answerOf<AgentDetail>(source, { agents: [], folded: 0 });
  const path = agent?.path ?? `${model.directory}/${model.agent}`;
  const detail: AgentDetail = {
    ...agentData(model, source),
    path: oneLine(path),
    ring: positionsOf(path),
    ...source.processOf(id),
    // An agent that is no longer exported has no series.
    attributes: agent === undefined ? {} : source.attributesOf(agent),
  };
  return answerOf(source, { agents: [detail], folded: 0 });
}
