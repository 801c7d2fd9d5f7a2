/** The report of a run: `run` and `report` make it, `compare` and scripts read it. docs/json.md describes it for others. Pure. */
import type { ExponentialTally } from '../ground/exponential.js';
import type { RunSlice } from '../comparison/run-slices.js';
import type { AgentModel } from '../view/model/agent-model.js';
import type { DirectionSizes, JsonClass } from '../view/sizes/direction-sizes.js';

/** Marks a report. Within a version, fields are only added. */
export const REPORT = 'nixl-otel/report/v1';

/** Times ending in `Ms` are milliseconds, of a moment since the epoch. */
export interface RunReport {
  readonly report: typeof REPORT;
  /** Of this package. */
  readonly version: string;
  readonly hostname: string;
  /** Time of the figures. */
  readonly takenMs: number;
  readonly run: RunFacts;
  /** Sums over all agents. */
  readonly totals: ReportTotals;
  /** Of `errors` of the agents. */
  readonly errorStatuses: readonly string[];
  /** In the order of their first events. */
  readonly agents: readonly ReportedAgent[];
  /** Steps of the lines of the agents; absent if the run was not watched to its end. */
  readonly line?: LineSteps;
  /** Transfers of all agents by slices of the run's time, at most 32; absent if the run was not watched. */
  readonly slices?: readonly RunSlice[];
  /** Files that are no rings that can be read. */
  readonly problems: readonly { readonly path: string; readonly state: string; readonly reason: string }[];
  /** Sentences about the run itself, such as variables that were overruled. */
  readonly notes: readonly string[];
}

export interface RunFacts {
  /** The command and its arguments; empty if it is not known. */
  readonly command: readonly string[];
  readonly directory: string;
  readonly beginMs: number;
  /** End of the command; absent if it was not seen. */
  readonly endMs?: number;
  /** As a shell has it: 128 + n for a signal. Absent if the end was not seen. */
  readonly exitCode?: number;
  /** Signal that ended the command. */
  readonly signal?: string;
  /** Slots of each ring as the agents were told. */
  readonly bufferSlots?: number;
  /** Time between two flushes as the agents were told. */
  readonly flushIntervalMs?: number;
}

export interface ReportTotals {
  readonly txBytes: number;
  readonly rxBytes: number;
  readonly txTransfers: number;
  readonly rxTransfers: number;
  /** Failed operations. */
  readonly errors: number;
  /** Events that were lost, at least. */
  readonly lost: number;
}

type ModelFields =
  | 'agent'
  | 'name'
  | 'life'
  | 'pid'
  | 'startTimeMs'
  | 'lastEventMs'
  | 'endedMs'
  | 'errors'
  | 'memoryBytes'
  | 'memoryApproximate'
  | 'registeredBytes'
  | 'dropped'
  | 'lost'
  | 'foundFull'
  | 'foundFullMs'
  | 'capacity'
  | 'flushIntervalMs'
  | 'restarts'
  | 'suspect'
  | 'writers'
  | 'events'
  | 'wireVersion'
  | 'rank'
  | 'gpus';

export interface ReportedAgent extends Pick<AgentModel, ModelFields> {
  readonly tx: ReportedDirection;
  readonly rx: ReportedDirection;
  /** Absent if it is not known, or without transfers. */
  readonly firstTransfer?: FirstTransfer;
  /** Absent if it is not known. */
  readonly memoryPeakBytes?: number;
  /**
   * An agent that ends does not write its last events: those of this time before its end may be missing. Absent while the agent
   * lives, and for one that had rested before its end.
   */
  readonly mayMissMs?: number;
  /** What it did in each step of `RunReport.line`. */
  readonly line?: AgentLine;
}

export type DirectionName = 'tx' | 'rx';

/** The first transfer of an agent, which often includes set-up of the connection. It is not in the classes. */
export interface FirstTransfer {
  readonly direction: DirectionName;
  readonly bytes: number;
  readonly timeUs: number;
  readonly postTimeUs?: number;
}

export interface ReportedDirection extends Pick<DirectionSizes, 'model' | 'posting' | 'endedInPost'> {
  /** Finished transfers and their bytes, with the first one. */
  readonly transfers: number;
  readonly bytes: number;
  /** Bytes per second of time in a transfer: parallel transfers do not add up. Absent without time in transfers. */
  readonly bytesPerSecond?: number;
  /** Bytes per second from the agent's begin to its last event; absent if that is less than 100 ms. */
  readonly wallBytesPerSecond?: number;
  /** Ascending by size, without the first transfer. */
  readonly classes: readonly ReportedClass[];
}

/** A size class with its distributions. */
export interface ReportedClass extends JsonClass {
  readonly timesUs: ExponentialTally;
  readonly postTimesUs: ExponentialTally;
  readonly timeSumUs: number;
  readonly postTimeSumUs: number;
}

export interface LineSteps {
  /** Begin of the first step. */
  readonly beginMs: number;
  readonly stepMs: number;
  /** Number of steps, at most MOST_STEPS. */
  readonly steps: number;
}

export const MOST_STEPS = 240;

/** One number for each step. */
export interface AgentLine {
  readonly txBytes: readonly number[];
  readonly rxBytes: readonly number[];
  readonly transfers: readonly number[];
  readonly errors: readonly number[];
  /** Registered at the end of the step. */
  readonly memoryBytes: readonly number[];
}
