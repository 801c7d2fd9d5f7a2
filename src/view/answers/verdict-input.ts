/** Makes the input of the verdict from an answer of /api/v1/agents. Pure; the live page uses this module, too. */
import type { ServedAgent } from '../model/agent-model.js';
import type { VerdictInput } from '../verdict/types.js';
import { type AgentsAnswer, OTHERS } from './answer.js';

interface Context {
  /** Address of serve, for people: `gpu-node-17:9464`. */
  readonly name: string;
  readonly stale?: NonNullable<VerdictInput['stale']>;
}

/** The answer should list all agents. It may be that of an older serve, which lacks fields: nothing follows from those. */
export function verdictInput(answer: AgentsAnswer<ServedAgent>, { name, stale }: Context): VerdictInput {
  const { startedMs, takenMs, agents, problems, problemCount } = answer;
  const {
    ended = [],
    slowness = [],
    unjudged = 0,
    failingExporters = [],
    collector,
    directories = [],
    globs = [],
    lastTrouble,
    ...newer
  }: Partial<AgentsAnswer<ServedAgent>> = answer;
  const { maintenance = [], ports = [], stateProblems = [], stateProblemCount = 0 } = newer;
  return {
    origin: { kind: 'serve', name, directories: [...directories, ...globs] },
    takenMs,
    observedSinceMs: startedMs,
    ...(stale === undefined ? {} : { stale }),
    agents: agents.filter(({ id }) => id !== OTHERS),
    ended,
    slowness,
    unjudged,
    problems,
    problemCount,
    failingExporters,
    maintenance,
    ports,
    stateProblems,
    stateProblemCount,
    ...(lastTrouble === undefined ? {} : { lastTrouble }),
    ...(collector?.lateMs === undefined ? {} : { collectorLateMs: collector.lateMs }),
  };
}
