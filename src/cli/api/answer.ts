/** The answer of /api/v1/agents: serve makes it, the live page and top read it. docs/json.md describes it for others. */
import type { AgentLife } from '../../tally.js';

/** Path below the address of the page. A proxy may serve both below another path. */
export const AGENTS_PATH = 'api/v1/agents';
/** Marks an answer. Within a version, fields are only added. */
export const API = 'nixl-otel/v1';
/** Id of the entry that sums up unlisted agents. */
export const OTHERS = -1;

export interface AgentsAnswer {
  readonly api: typeof API;
  /** Version of this package. */
  readonly version: string;
  readonly hostname: string;
  readonly directories: readonly string[];
  /** Start of the process. Another process has other agents under the same ids. */
  readonly startedMs: number;
  /** Time of the figures. Answers of the same time are the same. */
  readonly takenMs: number;
  /** In the order of `AgentData.errors`. */
  readonly errorStatuses: readonly string[];
  readonly agents: readonly AgentData[];
  /** Number of agents that the last entry sums up; 0 if it is a single agent. */
  readonly folded: number;
  readonly problems: readonly { readonly path: string; readonly state: string; readonly reason: string }[];
  /** Number of all problems, also of those that are not listed. */
  readonly problemCount: number;
}

/** One agent. Counts and sums begin at `startTimeMs`. */
export interface AgentData {
  /** Unique in one process of serve. */
  readonly id: number;
  /** File name of the ring below its directory. Empty for the entry that sums up agents, as `directory`. */
  readonly agent: string;
  readonly directory: string;
  /** Name for people: the path if another agent has the same name. */
  readonly name: string;
  readonly life: AgentLife;
  /** Process that writes the ring, if it can be seen. */
  readonly pid?: number;
  readonly startTimeMs: number;
  /** Since the last event, or since `startTimeMs`. */
  readonly idleMs: number;
  readonly txBytes: number;
  readonly rxBytes: number;
  /** Finished transfers. */
  readonly txRequests: number;
  readonly rxRequests: number;
  readonly errors: readonly number[];
  /** Registered and not yet deregistered. */
  readonly memoryBytes: number;
  readonly memoryApproximate: boolean;
  /** Ever registered. */
  readonly registeredBytes: number;
  /** Events that the agent reports as dropped. */
  readonly dropped: number;
  /** Drains that found the ring full. */
  readonly foundFull: number;
  /** Slots of the ring. */
  readonly capacity: number;
  /** Highest recent fill ratio of the ring, 0 to 1. */
  readonly fill: number;
  readonly restarts: number;
  /** True if the numbers may be wrong. */
  readonly suspect: boolean;
  readonly transferTimesUs: ExponentialCounts;
  readonly postTimesUs: ExponentialCounts;
  readonly txSizes: ExponentialCounts;
  readonly rxSizes: ExponentialCounts;
}

/** An ExponentialTally with a plain array, as JSON has it. */
export interface ExponentialCounts {
  readonly scale: number;
  readonly zeroCount: number;
  readonly offset: number;
  readonly counts: readonly number[];
}
