/** Makes the input of the verdict from an answer of /api/v1/agents. Pure; the live page uses this module, too. */
import type { AgentFacts, VerdictInput } from '../verdict/types.js';
import { type AgentsAnswer, type AgentSummary, OTHERS } from './answer.js';

interface Context {
  /** Address of serve, for people: `gpu-node-17:9464`. */
  readonly name: string;
  readonly stale?: NonNullable<VerdictInput['stale']>;
}

/** The answer should list all agents. It may be that of an older serve, which lacks fields: nothing follows from those. */
export function verdictInput(answer: AgentsAnswer<AgentSummary>, { name, stale }: Context): VerdictInput {
  const { startedMs, takenMs, directories, agents, problems, problemCount } = answer;
  const { ended = [], failingExporters = [], collector, ...newer }: Partial<AgentsAnswer<AgentSummary>> = answer;
  const { stateProblems = [], stateProblemCount = 0 } = newer;
  return {
    origin: { kind: 'serve', name, directories },
    takenMs,
    observedSinceMs: startedMs,
    ...(stale === undefined ? {} : { stale }),
    agents: agents.filter(({ id }) => id !== OTHERS).map(factsOf),
    ended,
    problems,
    problemCount,
    failingExporters,
    stateProblems,
    stateProblemCount,
    ...(collector?.lateMs === undefined ? {} : { collectorLateMs: collector.lateMs }),
  };
}

function factsOf(agent: AgentSummary): AgentFacts {
  const { id, name, life, idleMs, endedMs, capacity } = agent;
  const { troubles = {} }: Partial<AgentSummary> = agent;
  return { id, name, life, idleMs, capacity, troubles, ...(endedMs === undefined ? {} : { endedMs }) };
}
