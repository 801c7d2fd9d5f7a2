/** Types of the numbers of top: running totals of agents, and where they come from. */
import type { Exact } from '../../exact.js';
import type { ExponentialTally } from '../../exponential.js';
import type { AgentLife } from '../../tally.js';
import type { Sample as Samples } from '../figures/rates.js';
import type { TroubleCounts } from '../verdict/trouble-watch.js';
import type { Origin, VerdictInput } from '../verdict/types.js';
import type { Past } from './points.js';
import type { TimeCounts } from './time-figures.js';

/** Running totals of one agent, up to the time of the sample. */
export interface AgentTotals {
  /** Identifies the agent in every sample. */
  readonly id: string;
  readonly agent: string;
  /** Directory of its ring, or host, if the name alone is not unique. */
  readonly place?: string;
  /** Host and port that were asked for the agent, if several were. */
  readonly host?: string;
  /** Time at which the totals were 0, in the time of the samples; absent if unknown. */
  readonly startTimeMs?: number;
  readonly life: AgentLife;
  readonly pid?: number;
  readonly txBytes: Exact;
  readonly rxBytes: Exact;
  /** Finished transfers, both directions. */
  readonly requests: Exact;
  readonly errors: number;
  /** By status; absent if no status is known. */
  readonly errorsByStatus?: Readonly<Record<string, number>>;
  /** Registered and not yet deregistered, bytes. */
  readonly memoryBytes?: number;
  /** True if events were missed, so that `memoryBytes` may be wrong. */
  readonly memoryApproximate?: boolean;
  /** Events that the agent reports as dropped. */
  readonly lost: number;
  /** True if more events may be lost: the ring was found full, and a ring does not count dropped events. */
  readonly lostMore: boolean;
  /** True if these numbers are known to be too low. */
  readonly missed: boolean;
  /** Other counts of what goes wrong, for a verdict; absent where the origin of the numbers has its own. */
  readonly troubles?: TroubleCounts;
  /** Microseconds. */
  readonly transferTimes?: TimeCounts | undefined;
  readonly postTimes?: TimeCounts | undefined;
  /** Slots of its ring. */
  readonly capacity?: number;
  /** Highest recent fill ratio of the ring, 0 to 1. */
  readonly fill?: number;
  /** Milliseconds since its last event, or since the beginning of the observation. */
  readonly idleMs?: number;
  /** CUDA_VISIBLE_DEVICES of its process. */
  readonly gpus?: string;
  /** True if the file is probably old: no writer and no new event was seen, or its writer ended some time ago. */
  readonly unused: boolean;
}

/** Facts of one agent for its detail, beside its totals. An absent field is unknown. */
export interface AgentDetails {
  /** Path of its ring. */
  readonly path?: string;
  readonly wireVersion?: number;
  /** Positions in the ring, slots. */
  readonly ring?: { readonly readPos: number; readonly writePos: number; readonly pending: number };
  /** Events that were read. */
  readonly events?: number;
  readonly foundFull?: number;
  readonly foundFullMs?: number;
  readonly restarts?: number;
  /** Sizes of transfers by direction, bytes. */
  readonly txSizes?: ExponentialTally;
  readonly rxSizes?: ExponentialTally;
  /** Memory ever registered, bytes. */
  readonly registeredBytes?: number;
  /** User of its process. */
  readonly uid?: number;
  /** Local rank. */
  readonly rank?: string;
  /** Models of the GPUs that its process may use. */
  readonly gpuModels?: readonly string[];
  /** Attributes of its series. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** Facts of the origin of the numbers, beside them. */
export interface Facts extends Partial<Omit<VerdictInput, 'origin'>> {
  readonly origin: Origin;
  /** Directories and files that the system refuses to show, in words. */
  readonly complaints?: readonly string[];
}

export interface Sample extends Samples<AgentTotals> {
  /** For the user, beside the numbers; the most important one first. */
  readonly notes: readonly string[];
  /** For a verdict. Its agents, if present, have the ids of `agents`. */
  readonly facts: Facts;
}

/** Takes samples of agents, from rings or from an address. */
export interface Sampler {
  /** Origin of the numbers: directories, or an address. */
  readonly name: string;
  /** Takes a sample. @throws Failure if there is nothing to read at all. */
  sample(): Promise<Sample>;
  /** Returns what else is known of an agent; undefined if it is gone. */
  details(id: string): Promise<AgentDetails | undefined>;
  /** Returns the recorded minutes before, of each host that has recorded them. */
  pasts(): Promise<readonly Past[]>;
  /** Arguments of `nixl-otel doctor` about an agent, or about all that is read: a list for each run. */
  doctorArguments(id?: string): readonly (readonly string[])[];
  /** Failure for a command that ends without having found an agent. */
  noAgents(): Error;
  close(): void;
}
