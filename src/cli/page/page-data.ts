/** A snapshot as the live page takes it. Pure. */
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
import type { AgentSnapshot, Snapshot } from '../../shm-bridge/types.js';
import {
  DROPPED,
  MEMORY_REGISTERED,
  POST_TIME,
  RX_BYTES,
  RX_REQUESTS,
  TRANSFER_TIME,
  TX_BYTES,
  TX_REQUESTS,
} from '../event-types.js';
import { harmless } from '../process/output.js';
import { sumOf } from '../figures/rates.js';
import type { AgentData, PageData } from './data.js';

/** More are added up: an answer is to stay below a megabyte. */
export const MAX_LISTED_AGENTS = 256;
const LONG_IDLE_MS = 60_000;
const MAX_LISTED_PROBLEMS = 50;

export type PageFacts = Pick<PageData, 'version' | 'hostname' | 'directories' | 'startedMs'>;

const ERRORS = EVENTS.filter(({ category }) => category === Category.ERROR);
const STATUSES = ERRORS.map(({ event }) => event.replace('agent_err_', ''));

/** Those agents that are exported, as on the page of metrics. `customErrors`: counted beside NIXL's errors. */
export function pageData(snapshot: Snapshot, facts: PageFacts, customErrors: readonly CustomError[] = []): PageData {
  const { takenMs, problems, problemCount } = snapshot;
  const exported = snapshot.agents.filter((agent) => agent.exported);
  const ambiguous = ambiguousNames(exported);
  const sums = customErrors.map(errorSum);
  const all = exported.map((agent) => {
    const data = agentData(agent, takenMs, ambiguous.has(agent.agent));
    return { ...data, errors: [...data.errors, ...sums.map((sum) => Number(sum(agent)))] };
  });
  const { listed, folded } = fold(all);
  return {
    ...facts,
    takenMs,
    bounds: boundsOf(exported),
    errorStatuses: [...STATUSES, ...customErrors.map(({ status }) => status)],
    agents: listed,
    folded,
    problems: problems
      .slice(0, MAX_LISTED_PROBLEMS)
      .map(({ path, state, reason }) => ({ path: harmless(path), state, reason: harmless(reason) })),
    problemCount,
  };
}

function agentData(agent: AgentSnapshot, takenMs: number, withDirectory: boolean): AgentData {
  const sum = (type: number): number => Number(sumOf(agent, type));
  const counts = (type: number): readonly number[] => eventOfType(agent, type)?.histogram?.counts ?? [];
  const { transmit, receive } = agent.transfers;
  return {
    id: agent.id,
    name: harmless(withDirectory ? agent.path : agent.agent),
    life: agent.life,
    startTimeMs: agent.startTimeMs,
    idleMs: Math.max(0, takenMs - (agent.lastEventMs ?? agent.startTimeMs)),
    txBytes: sum(TX_BYTES),
    rxBytes: sum(RX_BYTES),
    txRequests: sum(TX_REQUESTS),
    rxRequests: sum(RX_REQUESTS),
    errors: ERRORS.map(({ type }) => sum(type)),
    memory: Number(agent.memoryInUse),
    registered: sum(MEMORY_REGISTERED),
    memoryApproximate: agent.memoryApproximate,
    dropped: sum(DROPPED),
    foundFull: agent.foundFull,
    fill: utilization(agent),
    restarts: agent.restarts,
    suspect: agent.suspect || agent.foreignMoves > 0,
    durations: counts(TRANSFER_TIME),
    postDurations: counts(POST_TIME),
    txSizes: transmit.size.counts,
    rxSizes: receive.size.counts,
  };
}

/** All agents of a source have the same bounds. */
function boundsOf([first]: readonly AgentSnapshot[]): PageData['bounds'] {
  const { durationBoundsUs, sizeBounds } = tallyOptions();
  return {
    durationUs: first?.transfers.transmit.duration.bounds ?? durationBoundsUs,
    sizeBytes: first?.transfers.transmit.size.bounds ?? sizeBounds,
  };
}

function fold(agents: readonly AgentData[]): { listed: readonly AgentData[]; folded: number } {
  if (agents.length <= MAX_LISTED_AGENTS) return { listed: agents, folded: 0 };
  // The same ones at each look, as far as they are at work: rates come of two looks at one agent.
  const isIdle = ({ idleMs }: AgentData): number => (idleMs > LONG_IDLE_MS ? 1 : 0);
  const inOrder = [...agents].sort((a, b) => isIdle(a) - isIdle(b) || a.id - b.id);
  const rest = inOrder.slice(MAX_LISTED_AGENTS);
  const others = rest.reduce(added);
  return {
    listed: [...inOrder.slice(0, MAX_LISTED_AGENTS), { ...others, id: -1, name: `${rest.length} others` }],
    folded: rest.length,
  };
}

function added(a: AgentData, b: AgentData): AgentData {
  const sums = (one: readonly number[], other: readonly number[]): number[] => one.map((n, i) => n + (other[i] ?? 0));
  return {
    ...a,
    life: a.life === b.life ? a.life : 'unknown',
    idleMs: Math.min(a.idleMs, b.idleMs),
    txBytes: a.txBytes + b.txBytes,
    rxBytes: a.rxBytes + b.rxBytes,
    txRequests: a.txRequests + b.txRequests,
    rxRequests: a.rxRequests + b.rxRequests,
    errors: sums(a.errors, b.errors),
    memory: a.memory + b.memory,
    registered: a.registered + b.registered,
    memoryApproximate: a.memoryApproximate || b.memoryApproximate,
    dropped: a.dropped + b.dropped,
    foundFull: a.foundFull + b.foundFull,
    fill: Math.max(a.fill, b.fill),
    restarts: a.restarts + b.restarts,
    suspect: a.suspect || b.suspect,
    durations: sums(a.durations, b.durations),
    postDurations: sums(a.postDurations, b.postDurations),
    txSizes: sums(a.txSizes, b.txSizes),
    rxSizes: sums(a.rxSizes, b.rxSizes),
  };
}
