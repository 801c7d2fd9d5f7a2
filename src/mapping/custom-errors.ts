/** Errors that NIXL's table does not have: declared with a status, and counted as NIXL counts its own. */
import { errorRow } from './events.js';
import { type AgentReading, type EventReading, sumWhere } from './tally.js';

export interface CustomError {
  /** A name of wire version 1, or a type number. NIXL's own names for the status are found as well. */
  readonly event: string | number;
  readonly kind: 'error';
  /** The value of the label `status`; of `error.type` in naming `otel`. */
  readonly status: string;
}

/** The base event name, as in `enabledMetrics`. */
export function errorName({ status }: CustomError): string {
  return `agent_err_${status}`;
}

/** Type numbers and names whose events count. */
export function errorKeys({ event, status }: CustomError): ReadonlySet<string | number> {
  const { event: name, wireVersion1Name } = errorRow(-1, status);
  return new Set([event, name, wireVersion1Name!]);
}

export function errorMatcher(error: CustomError): (event: EventReading) => boolean {
  const keys = errorKeys(error);
  return ({ known, overflow, type, name }) =>
    !known && !overflow && (keys.has(type ?? -1) || (name !== undefined && keys.has(name)));
}

/** At 0 until the first such event, as the statuses of NIXL's table. */
export function errorSum(error: CustomError): (agent: AgentReading) => bigint {
  const matches = errorMatcher(error);
  return (agent) => sumWhere(agent, matches);
}
