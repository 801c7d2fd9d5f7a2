/** Errors that NIXL's table does not have: they are declared with a status, and counted beside NIXL's errors. */
import { errorRow } from './events.js';
import { type AgentReading, type EventReading, sumWhere } from './tally.js';

export interface CustomError {
  /** A name of wire version 1, or a type number. NIXL's own names for the status are found as well. */
  readonly event: string | number;
  readonly kind: 'error';
  /** The value of the label `status`; of `error.type` in naming `otel`. */
  readonly status: string;
}

/** Base event name, as in `enabledMetrics`. */
export function errorName({ status }: CustomError): string {
  return `agent_err_${status}`;
}

/** Type number and names of the events that are counted: the declared one, and those that NIXL would use. */
export function errorKeys({ event, status }: CustomError): ReadonlySet<string | number> {
  const { event: name, wireVersion1Name } = errorRow(-1, status);
  return new Set([event, name, wireVersion1Name!]);
}

export function errorMatcher(error: CustomError): (event: EventReading) => boolean {
  const keys = errorKeys(error);
  return ({ known, overflow, type, name }) =>
    !known && !overflow && (keys.has(type ?? -1) || (name !== undefined && keys.has(name)));
}

/** Reads 0 until the first such event, as for the statuses of NIXL's table. */
export function errorSum(error: CustomError): (agent: AgentReading) => bigint {
  const matches = errorMatcher(error);
  return (agent) => sumWhere(agent, matches);
}
