/** Rows: agents with what they did between two samples. Pure; the live page uses this module, too. */
import type { Interval } from '../figures/rates.js';
import type { TimeFigures } from '../figures/time-figures.js';
import { type AgentModel, errorsOf, requestsOf } from './agent-model.js';

/** Increases of bytes, finished transfers and failed operations. Undefined before two samples have the agent. */
export interface Rates {
  readonly txBytesPerSecond: number | undefined;
  readonly rxBytesPerSecond: number | undefined;
  readonly requestsPerSecond: number | undefined;
  readonly errorsPerSecond: number | undefined;
}

/** Each view adds its own fields. */
export interface AgentRow<Agent extends AgentModel = AgentModel> extends Rates {
  readonly agent: Agent;
  /** Times of recent transfers; undefined if no transfer ended. */
  readonly transferTimeUs: TimeFigures | undefined;
  readonly postTimeUs: TimeFigures | undefined;
}

export function ratesOf<Agent extends AgentModel>(interval: Interval<Agent>, agents: readonly Agent[]): Rates {
  return {
    txBytesPerSecond: interval.rate(agents, ({ txBytes }) => txBytes),
    rxBytesPerSecond: interval.rate(agents, ({ rxBytes }) => rxBytes),
    requestsPerSecond: interval.rate(agents, requestsOf),
    errorsPerSecond: interval.rate(agents, errorsOf),
  };
}
