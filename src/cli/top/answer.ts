/** Answers of /api/v1/agents as agents' running totals. Pure. */
import { oneLine } from '../../one-line.js';
import { type AgentData, type AgentDetail, type AgentsAnswer, API } from '../api/answer.js';
import { verdictInput } from '../api/verdict-input.js';
import type { AgentDetails, AgentTotals, Facts } from './sampler.js';

/** Returns true for an answer of this package: other servers may have the same address. */
export function isAgentsAnswer(json: unknown): json is AgentsAnswer {
  return typeof json === 'object' && json !== null && 'api' in json && json.api === API;
}

/** Another process of serve has other agents under the same ids. */
export function idOf({ startedMs }: Pick<AgentsAnswer, 'startedMs'>, id: number | string): string {
  return `${startedMs} ${id}`;
}

/** Returns serve's own id of an agent. */
export function idAtServe(id: string): string {
  return id.slice(id.indexOf(' ') + 1);
}

export function agentsOf(answer: AgentsAnswer): AgentTotals[] {
  return answer.agents.map((agent) => totalsOf(agent, answer));
}

function totalsOf(data: AgentData, answer: AgentsAnswer): AgentTotals {
  const { agent, directory, life, pid, startTimeMs, txBytes, rxBytes, txRequests, rxRequests } = data;
  const { memoryBytes, memoryApproximate, capacity, gpus } = data;
  return {
    id: idOf(answer, data.id),
    agent,
    ...(data.name === oneLine(agent) ? {} : { place: directory }),
    life,
    ...(pid === undefined ? {} : { pid }),
    startTimeMs,
    txBytes,
    rxBytes,
    requests: txRequests + rxRequests,
    errors: data.errors.reduce((all, count) => all + count, 0),
    ...errorsOf(data, answer),
    memoryBytes,
    memoryApproximate,
    lost: data.dropped,
    lostMore: data.foundFull > 0,
    missed: data.suspect,
    troubles: { full: data.foundFull },
    transferTimes: data.transferTimesUs,
    postTimes: data.postTimesUs,
    capacity,
    fill: data.fill,
    idleMs: data.idleMs,
    ...(gpus === undefined ? {} : { gpus }),
    unused: false,
  };
}

function errorsOf({ errors }: AgentData, { errorStatuses }: AgentsAnswer): Pick<AgentTotals, 'errorsByStatus'> {
  const counted = errorStatuses.map((status, i) => [status, errors[i] ?? 0] as const).filter(([, count]) => count > 0);
  return counted.length === 0 ? {} : { errorsByStatus: Object.fromEntries(counted) };
}

/** Returns the facts of serve beside the totals. An earlier release reports no troubles of its agents. `name`: host and port. */
export function factsOf(answer: AgentsAnswer, name: string): Facts {
  const { agents, ended = [], ...facts } = verdictInput(answer, { name });
  const isWatched = answer.agents.every((agent: Partial<AgentData>) => agent.troubles !== undefined);
  if (!isWatched) return facts;
  const named = <Agent extends { id: number | string }>(agent: Agent): Agent => ({
    ...agent,
    id: idOf(answer, agent.id),
  });
  return { ...facts, agents: agents.map(named), ended: ended.map(named) };
}

/** An earlier serve knows less of an agent. */
export function detailsOf(data: AgentData & Partial<AgentDetail>): AgentDetails {
  const { path, wireVersion, ring, events, foundFull, foundFullMs, restarts, txSizes, rxSizes, registeredBytes } = data;
  const { uid, rank, gpuModels, attributes } = data;
  const known = { path, wireVersion, ring, events, foundFullMs, uid, rank, gpuModels, attributes };
  return {
    ...(Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as AgentDetails),
    foundFull,
    restarts,
    txSizes,
    rxSizes,
    registeredBytes,
  };
}
