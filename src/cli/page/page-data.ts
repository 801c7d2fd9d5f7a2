/** Data of the live page, which fetches them once a second, from a snapshot. Pure. */
import {
  ambiguousNames,
  Category,
  type CustomError,
  errorSum,
  EVENTS,
  eventOfType,
  tallyOptions,
  utilization,
} from '../../mapping/index.js';
import { oneLine } from '../../one-line.js';
import type { AgentSnapshot, Snapshot } from '../../shm-bridge/types.js';
import { totalsOf } from '../figures/totals.js';

/** Further agents are summed up, so that an answer stays below a megabyte. */
export const MAX_LISTED_AGENTS = 256;
const LONG_IDLE_MS = 60_000;
const MAX_LISTED_PROBLEMS = 50;

export interface PageFacts {
  readonly version: string;
  readonly hostname: string;
  readonly directories: readonly string[];
  /** Start of the process. Another process has other agents under the same ids. */
  readonly startedMs: number;
}

export type PageData = ReturnType<typeof pageData>;
/** One agent. Sizes are bytes. Counts and sums begin at `startTimeMs`. */
export type AgentData = Readonly<ReturnType<typeof agentData>>;

const ERRORS = EVENTS.filter(({ category }) => category === Category.ERROR);
const STATUSES = ERRORS.map(({ event }) => event.replace('agent_err_', ''));

/** Returns the data of exported agents, as at /metrics. `customErrors` count beside NIXL's errors. */
export function pageData(snapshot: Snapshot, facts: PageFacts, customErrors: readonly CustomError[] = []) {
  const { takenMs, problems, problemCount } = snapshot;
  const exported = snapshot.agents.filter((agent) => agent.exported);
  const ambiguous = ambiguousNames(exported);
  const sums = customErrors.map(errorSum);
  const all = exported.map((agent) => {
    const data = agentData(agent, takenMs, ambiguous.has(agent.agent));
    return { ...data, errors: [...data.errors, ...sums.map((sum) => Number(sum(agent)))] };
  });
  return {
    ...facts,
    takenMs,
    bounds: boundsOf(exported),
    /** In the order of `AgentData.errors`. */
    errorStatuses: [...STATUSES, ...customErrors.map(({ status }) => status)],
    ...fold(all),
    problems: problems
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ path, state, reason }) => ({ path: oneLine(path), state, reason: oneLine(reason) })),
    problemCount,
  };
}

function agentData(agent: AgentSnapshot, takenMs: number, withDirectory: boolean) {
  const totals = totalsOf(agent.events);
  const { transmit, receive } = agent.transfers;
  return {
    id: agent.id,
    name: oneLine(withDirectory ? agent.path : agent.agent),
    life: agent.life,
    startTimeMs: agent.startTimeMs,
    idleMs: Math.max(0, takenMs - (agent.lastEventMs ?? agent.startTimeMs)),
    txBytes: Number(totals.txBytes),
    rxBytes: Number(totals.rxBytes),
    txRequests: Number(totals.txRequests),
    rxRequests: Number(totals.rxRequests),
    errors: ERRORS.map(({ type }) => Number(eventOfType(agent, type)?.sum ?? 0n)),
    /** Registered and not yet deregistered. */
    memory: Number(agent.memoryInUse),
    /** Ever registered. */
    registered: Number(totals.registered),
    memoryApproximate: agent.memoryApproximate,
    dropped: Number(totals.dropped),
    /** Drains that found the ring full. */
    foundFull: agent.foundFull,
    /** Highest recent fill ratio of the ring, 0 to 1. */
    fill: utilization(agent),
    restarts: agent.restarts,
    suspect: agent.suspect || agent.foreignMoves > 0,
    /** Counts per bucket of `bounds`, and one more for values above. */
    durations: totals.transferTimes?.counts ?? [],
    postDurations: totals.postTimes?.counts ?? [],
    txSizes: transmit.size.counts,
    rxSizes: receive.size.counts,
  };
}

/** All agents of a source have the same bounds. */
function boundsOf([first]: readonly AgentSnapshot[]) {
  const { durationBoundsUs, sizeBounds } = tallyOptions();
  return {
    durationUs: first?.transfers.transmit.duration.bounds ?? durationBoundsUs,
    sizeBytes: first?.transfers.transmit.size.bounds ?? sizeBounds,
  };
}

/** `folded`: number of agents that the last entry sums up; 0 if it is a single agent. */
function fold(all: readonly AgentData[]): { agents: readonly AgentData[]; folded: number } {
  if (all.length <= MAX_LISTED_AGENTS) return { agents: all, folded: 0 };
  // Lists the same active agents every time: a rate needs the same agent in two answers.
  const isIdle = ({ idleMs }: AgentData): number => (idleMs > LONG_IDLE_MS ? 1 : 0);
  const inOrder = [...all].sort((a, b) => isIdle(a) - isIdle(b) || a.id - b.id);
  const rest = inOrder.slice(MAX_LISTED_AGENTS);
  const others = { ...rest.reduce(added), id: -1, name: `${rest.length} others` };
  return { agents: [...inOrder.slice(0, MAX_LISTED_AGENTS), others], folded: rest.length };
}

/** Adds numbers and counts. Of two flags or two highest values, the higher one counts. */
function added(a: AgentData, b: AgentData): AgentData {
  const sums = Object.entries(a).map(([key, value]: [string, unknown]) => {
    const other: unknown = b[key as keyof AgentData];
    if (typeof value === 'number') return [key, value + (other as number)];
    if (typeof value === 'boolean') return [key, value || other];
    if (Array.isArray(value)) return [key, value.map((n: number, i) => n + ((other as number[])[i] ?? 0))];
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
