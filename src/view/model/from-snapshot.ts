/** Makes the model of agents from their snapshots. Pure. */
import { oneLine } from '../../ground/one-line.js';
import { type AgentSnapshot, Category } from '../../ground/tally.js';
import { lostEvents, utilization } from '../../mapping/agent-metrics.js';
import { type CustomError, errorSum } from '../../mapping/custom-events.js';
import { eventOfType, EVENTS } from '../../mapping/events.js';
import { ambiguousNames } from '../../mapping/naming.js';
import type { ServedAgent, Troubles } from './agent-model.js';
import { fieldsOf, statusOf } from './from-tally.js';

const ERRORS = EVENTS.filter(({ category }) => category === Category.ERROR);
const NO_TROUBLES: Troubles = {};

/** Statuses of failed operations: NIXL's, then declared ones. */
export class ErrorStatuses {
  readonly names: readonly string[];
  readonly #custom: readonly ((agent: AgentSnapshot) => bigint)[];

  constructor(customErrors: readonly CustomError[]) {
    this.names = [...ERRORS.map(({ event }) => statusOf(event)), ...customErrors.map(({ status }) => status)];
    this.#custom = customErrors.map(errorSum);
  }

  /** Returns the number of failed operations by status. */
  of(agent: AgentSnapshot): number[] {
    const known = ERRORS.map(({ type }) => Number(eventOfType(agent, type)?.sum ?? 0n));
    return [...known, ...this.#custom.map((sum) => Number(sum(agent)))];
  }
}

/**
 * Returns the models of agents of a snapshot. What only a recording knows follows later: idle and ended times, troubles,
 * recent times and facts of the process.
 */
export function modelsOf(agents: readonly AgentSnapshot[], statuses: ErrorStatuses): ServedAgent[] {
  const ambiguous = ambiguousNames(agents);
  return agents.map((agent) => {
    const name = oneLine(ambiguous.has(agent.agent) ? agent.path : agent.agent);
    return modelOf(agent, name, statuses.of(agent));
  });
}

/** In the order of docs/json.md. Unknown fields are undefined: objects with the same fields are copied a hundred times as fast. */
function modelOf(agent: AgentSnapshot, name: string, errors: readonly number[]): ServedAgent {
  return {
    id: agent.id,
    agent: agent.agent,
    directory: agent.directory,
    name,
    life: agent.life,
    pid: agent.pid,
    startTimeMs: agent.startTimeMs,
    lastEventMs: agent.lastEventMs,
    idleMs: undefined,
    errors,
    failedMs: undefined,
    memoryGrowth: undefined,
    quietSinceMs: undefined,
    memoryApproximate: agent.memoryApproximate,
    lost: Number(lostEvents(agent)),
    foundFull: agent.foundFull,
    foundFullMs: Math.round(agent.foundFullMs),
    capacity: agent.capacity,
    fill: utilization(agent),
    flushIntervalMs: agent.flushIntervalMs,
    restarts: agent.restarts,
    suspect: agent.suspect || agent.foreignMoves > 0,
    writers: agent.writers,
    wireVersion: agent.wireVersion,
    endedMs: undefined,
    troubles: NO_TROUBLES,
    recentTransferTimeUs: undefined,
    recentPostTimeUs: undefined,
    engine: undefined,
    way: undefined,
    gpus: undefined,
    ...fieldsOf(agent),
  };
}
