/** Types of the samples of top: running totals of agents, and where they come from. */
import type { Sample as Samples } from '../view/figures/rates.js';
import type { AgentModel } from '../view/model/agent-model.js';
import type { Origin, VerdictInput } from '../view/verdict/types.js';

/** An agent of top: `id` identifies it among those of all hosts and serves. */
export interface TopAgent extends AgentModel<string> {
  /** Directory of its ring, or host, if the name alone is not unique. */
  readonly place?: string;
  /** Host and port that were asked for the agent, if several were. */
  readonly host?: string;
  /** In the order of `errors`. */
  readonly errorStatuses: readonly string[];
  /** True if the file is probably old: no writer and no new event was seen, or its writer ended some time ago. */
  readonly unused: boolean;
}

/** Returns the failed operations by status, without statuses that had none. */
export function errorsByStatus({ errors, errorStatuses }: Pick<TopAgent, 'errors' | 'errorStatuses'>) {
  const counted = errorStatuses.map((status, i) => [status, errors[i] ?? 0] as const);
  return Object.fromEntries(counted.filter(([, count]) => count > 0));
}

/** Facts of the origin of the numbers, beside them. */
export interface Facts extends Partial<Omit<VerdictInput, 'origin' | 'agents'>> {
  readonly origin: Origin;
  /** Directories and files that the system refuses to show, in words. */
  readonly complaints?: readonly string[];
}

export interface TopSample extends Samples<TopAgent> {
  /** For the user, beside the numbers; the most important one first. */
  readonly notes: readonly string[];
  /** For a verdict. */
  readonly facts: Facts;
}
