/** Makes the answer about one agent: all that serve knows of it. */
import { oneLine } from '../../one-line.js';
import { inspectRing } from '../../shm-bridge/ring.js';
import type { AgentSnapshot } from '../../tally.js';
import { agentData, type AnswerSource, answerOf } from './agents.js';
import type { AgentProcessFacts } from './agent-processes.js';
import type { AgentDetail, AgentsAnswer } from './answer.js';

export interface DetailSource extends AnswerSource {
  readonly processOf: (id: number) => AgentProcessFacts;
  /** Returns the configured attributes of the agent's series. */
  readonly attributesOf: (agent: AgentSnapshot) => Readonly<Record<string, unknown>>;
}

/** Returns an answer without agents if there is none with this id. */
export function agentAnswer(source: DetailSource, id: number): AgentsAnswer<AgentDetail> {
  const reading = source.sample.readings.find(({ agent }) => agent.id === id);
  if (reading === undefined) return answerOf<AgentDetail>(source, { agents: [], folded: 0 });
  const { agent } = reading;
  const ring = positionsOf(agent.path);
  const detail: AgentDetail = {
    ...agentData(reading, source),
    path: oneLine(agent.path),
    ...(ring === undefined ? {} : { ring }),
    ...source.processOf(id),
    attributes: source.attributesOf(agent),
  };
  return answerOf(source, { agents: [detail], folded: 0 });
}

function positionsOf(path: string): AgentDetail['ring'] | undefined {
  const { readPos, writePos, pending } = inspectRing(path);
  if (readPos === undefined || writePos === undefined || pending === undefined) return undefined;
  return { readPos, writePos, pending };
}
