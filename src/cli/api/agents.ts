/** Makes the answer of /api/v1/agents from a snapshot. Pure. */
import { atScale, exponentialSum, type ExponentialTally, TALLY_SCALE } from '../../exponential.js';
import {
  ambiguousNames,
  Category,
  type CustomError,
  errorSum,
  EVENTS,
  eventOfType,
  utilization,
} from '../../mapping/index.js';
import { oneLine } from '../../one-line.js';
import type { AgentSnapshot, Snapshot } from '../../shm-bridge/types.js';
import { totalsOf } from '../figures/totals.js';
import { type AgentData, type AgentsAnswer, API, type ExponentialCounts, OTHERS } from './answer.js';

/** Further agents are summed up, so that an answer stays below a megabyte. */
export const MAX_LISTED_AGENTS = 256;
const LONG_IDLE_MS = 60_000;
const MAX_LISTED_PROBLEMS = 50;
/** Sizes are usually powers of two: one bucket for each is enough. */
const SIZE_SCALE = 0;

export type ServeFacts = Pick<AgentsAnswer, 'version' | 'hostname' | 'directories' | 'startedMs'>;

const ERRORS = EVENTS.filter(({ category }) => category === Category.ERROR);
const STATUSES = ERRORS.map(({ event }) => event.replace('agent_err_', ''));

/** Returns the data of exported agents, as at /metrics. `customErrors` count beside NIXL's errors. */
export function agentsAnswer(
  snapshot: Snapshot,
  facts: ServeFacts,
  customErrors: readonly CustomError[] = [],
  mostAgents = MAX_LISTED_AGENTS,
): AgentsAnswer {
  const { takenMs, problems, problemCount, stateProblems, collector } = snapshot;
  const exported = snapshot.agents.filter((agent) => agent.exported);
  const ambiguous = ambiguousNames(exported);
  const sums = customErrors.map(errorSum);
  const all = exported.map((agent) => {
    const data = agentData(agent, takenMs, ambiguous.has(agent.agent));
    return { ...data, errors: [...data.errors, ...sums.map((sum) => Number(sum(agent)))] };
  });
  return {
    api: API,
    ...facts,
    takenMs,
    errorStatuses: [...STATUSES, ...customErrors.map(({ status }) => status)],
    ...fold(all, mostAgents),
    problems: problems
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ path, state, reason }) => ({ path: oneLine(path), state, reason: oneLine(reason) })),
    problemCount,
    ended: [],
    stateProblems: stateProblems
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ path, reason }) => ({ path: oneLine(path), reason: oneLine(reason) })),
    stateProblemCount: stateProblems.length,
    failingExporters: [],
    collector: { drainIntervalMs: collector.drainIntervalMs, sinceTickMs: Math.round(collector.sinceTickMs) },
  };
}

function agentData(agent: AgentSnapshot, takenMs: number, isAmbiguous: boolean): AgentData {
  const totals = totalsOf(agent.events);
  const { transmit, receive } = agent.transfers;
  return {
    id: agent.id,
    agent: agent.agent,
    directory: agent.directory,
    name: oneLine(isAmbiguous ? agent.path : agent.agent),
    life: agent.life,
    ...(agent.pid === undefined ? {} : { pid: agent.pid }),
    startTimeMs: agent.startTimeMs,
    idleMs: Math.max(0, Math.round(takenMs - (agent.lastEventMs ?? agent.startTimeMs))),
    txBytes: Number(totals.txBytes),
    rxBytes: Number(totals.rxBytes),
    txRequests: Number(totals.txRequests),
    rxRequests: Number(totals.rxRequests),
    errors: ERRORS.map(({ type }) => Number(eventOfType(agent, type)?.sum ?? 0n)),
    memoryBytes: Number(agent.memoryInUse),
    memoryApproximate: agent.memoryApproximate,
    registeredBytes: Number(totals.registered),
    dropped: Number(totals.dropped),
    foundFull: agent.foundFull,
    capacity: agent.capacity,
    fill: utilization(agent),
    restarts: agent.restarts,
    suspect: agent.suspect || agent.foreignMoves > 0,
    foundFullMs: Math.round(agent.foundFullMs),
    events: agent.events.reduce((all, { count }) => all + count, 0),
    wireVersion: agent.wireVersion,
    troubles: {},
    transferTimesUs: compact(totals.transferTimes),
    postTimesUs: compact(totals.postTimes),
    txSizes: compact(atScale(transmit.size.exponential, SIZE_SCALE)),
    rxSizes: compact(atScale(receive.size.exponential, SIZE_SCALE)),
  };
}

const NO_VALUES: ExponentialTally = { scale: TALLY_SCALE, zeroCount: 0, offset: 0, counts: [] };

/** JSON has no typed arrays. */
function compact({ scale, zeroCount, offset, counts }: ExponentialTally = NO_VALUES): ExponentialCounts {
  return { scale, zeroCount, offset, counts: Array.from(counts) };
}

function fold(all: readonly AgentData[], mostAgents: number): Pick<AgentsAnswer, 'agents' | 'folded'> {
  if (all.length <= mostAgents) return { agents: all, folded: 0 };
  // Lists the same active agents every time: a rate needs the same agent in two answers.
  const isIdle = ({ idleMs }: AgentData): number => (idleMs > LONG_IDLE_MS ? 1 : 0);
  const inOrder = [...all].sort((a, b) => isIdle(a) - isIdle(b) || a.id - b.id);
  return {
    agents: [...inOrder.slice(0, mostAgents), others(inOrder.slice(mostAgents))],
    folded: all.length - mostAgents,
  };
}

/** Returns one entry for several agents. */
function others(agents: readonly AgentData[]): AgentData {
  const sum = agents.map(({ pid: _pid, ...agent }): AgentData => agent).reduce(added);
  return { ...sum, id: OTHERS, agent: '', directory: '', name: `${agents.length} others` };
}

/** Adds numbers and counts. Of two flags or two highest values, the higher one counts. */
function added(a: AgentData, b: AgentData): AgentData {
  const sums = Object.entries(a).map(([key, value]: [string, unknown]) => {
    const other: unknown = b[key as keyof AgentData];
    if (typeof value === 'number') return [key, value + (other as number)];
    if (typeof value === 'boolean') return [key, value || other];
    if (Array.isArray(value)) return [key, value.map((n: number, i) => n + ((other as number[])[i] ?? 0))];
    if (typeof value === 'object') return [key, compact(exponentialSum([value, other] as ExponentialTally[]))];
    return [key, value];
  });
  return {
    ...(Object.fromEntries(sums) as AgentData),
    life: a.life === b.life ? a.life : 'unknown',
    startTimeMs: a.startTimeMs,
    idleMs: Math.min(a.idleMs, b.idleMs),
    fill: Math.max(a.fill, b.fill),
  };
}
