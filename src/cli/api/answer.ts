/** The answer of /api/v1/agents: serve makes it, the live page and top read it. docs/json.md describes it for others. */
import type { AgentLife } from '../../tally.js';
import type { Percentiles } from '../figures/percentiles.js';
import type { EndedAgent, FailingExporter, Troubles } from '../verdict/types.js';

/** Path below the address of the page. A proxy may serve both below another path. */
export const AGENTS_PATH = 'api/v1/agents';
/** Marks an answer. Within a version, fields are only added. */
export const API = 'nixl-otel/v1';
/** Id of the entry that sums up unlisted agents. */
export const OTHERS = -1;

export type ServeFacts = Pick<AgentsAnswer, 'version' | 'hostname' | 'directories' | 'startedMs'>;

/** With `detail=none` the agents have no histograms, with `agent=ID` there is one with all that serve knows of it. */
export interface AgentsAnswer<Agent extends AgentSummary = AgentData> {
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
  readonly agents: readonly Agent[];
  /** Number of agents that the last entry sums up; 0 if it is a single agent. */
  readonly folded: number;
  readonly problems: readonly { readonly path: string; readonly state: string; readonly reason: string }[];
  /** Number of all problems, also of those that are not listed. */
  readonly problemCount: number;
  /** Agents that ended while they were transferring, in the last ten minutes, newest first; at most a hundred. */
  readonly ended: readonly EndedAgent[];
  /** State files that are not used: their agents' sums do not outlive this process. */
  readonly stateProblems: readonly { readonly path: string; readonly reason: string }[];
  readonly stateProblemCount: number;
  readonly failingExporters: readonly FailingExporter[];
  readonly collector: {
    readonly drainIntervalMs: number;
    /** Time since the collector thread's last turn. */
    readonly sinceTickMs: number;
    /** The same if it is too long; otherwise absent. */
    readonly lateMs?: number;
  };
  /** Times of all agents, see AgentSummary. */
  readonly recentTransferTimeUs?: Percentiles;
  readonly recentPostTimeUs?: Percentiles;
}

/** One agent. Counts and sums begin at `startTimeMs`. */
export interface AgentSummary {
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
  /** Upper bound on the time for which the ring was full, milliseconds. */
  readonly foundFullMs: number;
  /** Slots of the ring. */
  readonly capacity: number;
  /** Highest recent fill ratio of the ring, 0 to 1. */
  readonly fill: number;
  readonly restarts: number;
  /** True if the numbers may be wrong. */
  readonly suspect: boolean;
  /** Events that were read. */
  readonly events: number;
  /** Absent for the entry that sums up agents. */
  readonly wireVersion?: number;
  /** Time at which its process was seen to have ended. */
  readonly endedMs?: number;
  readonly troubles: Troubles;
  /** Times of the transfers that ended in the last ten seconds, or in the shorter known time; absent without a transfer. */
  readonly recentTransferTimeUs?: Percentiles;
  readonly recentPostTimeUs?: Percentiles;
  /** CUDA_VISIBLE_DEVICES of its process. */
  readonly gpus?: string;
}

export interface AgentData extends AgentSummary {
  readonly transferTimesUs: ExponentialCounts;
  readonly postTimesUs: ExponentialCounts;
  readonly txSizes: ExponentialCounts;
  readonly rxSizes: ExponentialCounts;
}

/** The one agent of an answer to `agent=ID`. */
export interface AgentDetail extends AgentData {
  readonly path: string;
  /** Positions in the ring, slots; absent if the file cannot be read. */
  readonly ring?: { readonly readPos: number; readonly writePos: number; readonly pending: number };
  /** User of its process. */
  readonly uid?: number;
  /** Local rank, from the environment of its process. */
  readonly rank?: string;
  /** Models of the GPUs that its process may use. */
  readonly gpuModels?: readonly string[];
  /** Configured attributes, as its series have them. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An ExponentialTally with a plain array, as JSON has it. */
export interface ExponentialCounts {
  readonly scale: number;
  readonly zeroCount: number;
  readonly offset: number;
  readonly counts: readonly number[];
}
