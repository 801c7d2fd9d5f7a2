/** Readings: the figures of one agent in one snapshot, as numbers. Pure. */
import type { ExponentialTally } from '../../exponential.js';
import { type CustomError, errorSum } from '../../mapping/custom-events.js';
import { utilization } from '../../mapping/agent-metrics.js';
import { eventOfType } from '../../mapping/event-keys.js';
import { EVENTS } from '../../mapping/events.js';
import { ambiguousNames } from '../../mapping/naming.js';
import { oneLine } from '../../one-line.js';
import { type AgentSnapshot, Category } from '../../tally.js';
import { totalsOf } from '../figures/totals.js';

/** Places in `AgentReading.counters`. From ERRORS on there is one for each status. */
export const Counter = { TX: 0, RX: 1, REQUESTS: 2, FULL: 3, DROPPED: 4, ERRORS: 5 } as const;

export interface AgentReading {
  readonly agent: AgentSnapshot;
  /** For people: the path if another agent has the same name. */
  readonly name: string;
  readonly totals: ReturnType<typeof totalsOf>;
  /** Failed operations by status. */
  readonly errors: readonly number[];
  /** Counts that only grow, see Counter. */
  readonly counters: Float64Array;
  /** Highest recent fill ratio of the ring, 0 to 1. */
  readonly fill: number;
  readonly txSizes: ExponentialTally;
  readonly rxSizes: ExponentialTally;
}

const ERRORS = EVENTS.filter(({ category }) => category === Category.ERROR);

/** Statuses of failed operations: NIXL's, then declared ones. */
export class ErrorStatuses {
  readonly names: readonly string[];
  readonly #custom: readonly ((agent: AgentSnapshot) => bigint)[];

  constructor(customErrors: readonly CustomError[]) {
    this.names = [
      ...ERRORS.map(({ event }) => event.replace('agent_err_', '')),
      ...customErrors.map(({ status }) => status),
    ];
    this.#custom = customErrors.map(errorSum);
  }

  /** Returns the number of failed operations by status. */
  of(agent: AgentSnapshot): number[] {
    const known = ERRORS.map(({ type }) => Number(eventOfType(agent, type)?.sum ?? 0n));
    return [...known, ...this.#custom.map((sum) => Number(sum(agent)))];
  }
}

/** Returns the readings of the exported agents. */
export function readingsOf(agents: readonly AgentSnapshot[], statuses: ErrorStatuses): AgentReading[] {
  const exported = agents.filter((agent) => agent.exported);
  const ambiguous = ambiguousNames(exported);
  return exported.map((agent) => {
    const totals = totalsOf(agent.events);
    const errors = statuses.of(agent);
    const counters = new Float64Array(Counter.ERRORS + errors.length);
    counters[Counter.TX] = Number(totals.txBytes);
    counters[Counter.RX] = Number(totals.rxBytes);
    counters[Counter.REQUESTS] = Number(totals.requests);
    counters[Counter.FULL] = agent.foundFull;
    counters[Counter.DROPPED] = Number(totals.dropped);
    counters.set(errors, Counter.ERRORS);
    return {
      agent,
      name: oneLine(ambiguous.has(agent.agent) ? agent.path : agent.agent),
      totals,
      errors,
      counters,
      fill: utilization(agent),
      txSizes: agent.transfers.transmit.size.exponential,
      rxSizes: agent.transfers.receive.size.exponential,
    };
  });
}
