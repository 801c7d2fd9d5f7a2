/** Answers of /api/v1/agents as agents' running totals. Pure. */
import { oneLine } from '../../one-line.js';
import { type AgentData, type AgentsAnswer, API } from '../api/answer.js';
import type { AgentTotals } from './tracker.js';

/** Returns true for an answer of this package: other servers may have the same address. */
export function isAgentsAnswer(json: unknown): json is AgentsAnswer {
  return typeof json === 'object' && json !== null && 'api' in json && json.api === API;
}

export function agentsOf({ startedMs, agents }: AgentsAnswer): AgentTotals[] {
  return agents.map((agent) => totalsOf(agent, startedMs));
}

function totalsOf(data: AgentData, startedMs: number): AgentTotals {
  const { agent, directory, life, pid, startTimeMs, txBytes, rxBytes, txRequests, rxRequests } = data;
  return {
    // Another process of serve has other agents under the same ids.
    id: `${startedMs} ${data.id}`,
    agent,
    ...(data.name === oneLine(agent) ? {} : { place: directory }),
    life,
    ...(pid === undefined ? {} : { pid }),
    startTimeMs,
    txBytes,
    rxBytes,
    requests: txRequests + rxRequests,
    errors: data.errors.reduce((all, count) => all + count, 0),
    lost: data.dropped,
    lostMore: data.foundFull > 0,
    missed: data.suspect,
    transferTimes: data.transferTimesUs,
    postTimes: data.postTimesUs,
    fill: data.fill,
    idleMs: data.idleMs,
    unused: false,
  };
}
