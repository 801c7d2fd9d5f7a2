/**
 * The one model of an agent, whatever it was made from: page, top, list, JSON, verdict and history read it. docs/json.md describes
 * the fields. Pure; the live page uses this module, too.
 */
import type { EngineIdentity } from '../../engines/engine-identity.js';
import type { ExponentialTally } from '../../ground/exponential.js';
import type { AgentLife } from '../../ground/tally.js';
import type { AgentPath } from '../../way/way.js';
import type { Percentiles } from '../figures/percentiles.js';
import type { TimeCounts } from '../figures/time-figures.js';

export type AgentId = number | string;

/** `unknown`: it is not seen whether the agent's process lives, so that it is neither `live` nor `idle`. */
export type AgentState = 'incomplete' | 'failing' | 'slow' | 'ended' | 'unknown' | 'live' | 'idle';

/** One agent in one sample. Counts and sums begin at `startTimeMs`. An absent or undefined field is unknown. */
export interface AgentModel<Id extends AgentId = AgentId, Times = TimeCounts> {
  /** The same agent in every sample of one origin. */
  readonly id: Id;
  /** File name of the ring below its directory. */
  readonly agent: string;
  readonly directory?: string | undefined;
  /** Name for people: the path if another agent has the same name. */
  readonly name: string;
  readonly life: AgentLife;
  /** Process that writes the ring. */
  readonly pid?: number | undefined;
  readonly startTimeMs?: number | undefined;
  readonly lastEventMs?: number | undefined;
  /** Since the last event, or since the beginning. JSON has it in place of `lastEventMs`. */
  readonly idleMs?: number | undefined;
  readonly txBytes: number;
  readonly rxBytes: number;
  /** Finished transfers. */
  readonly txRequests: number;
  readonly rxRequests: number;
  /** Sums of their times and of their post times; absent from an earlier serve and from other exporters. */
  readonly transferUs?: number | undefined;
  readonly postUs?: number | undefined;
  /** Failed operations, in the order of the statuses of the sample. */
  readonly errors: readonly number[];
  /** Time of the last sample in which they had grown; absent if none was seen. */
  readonly failedMs?: number | undefined;
  /** Registered and not yet deregistered. */
  readonly memoryBytes?: number | undefined;
  /** How much it has grown without a rest; absent if it rests. */
  readonly memoryGrowth?: MemoryGrowth | undefined;
  /** Time of its last transfer, if it had a steady pace and has stopped while its process lives. */
  readonly quietSinceMs?: number | undefined;
  /** True if events were missed, so that `memoryBytes` may be wrong. */
  readonly memoryApproximate?: boolean | undefined;
  /** Ever registered. */
  readonly registeredBytes?: number | undefined;
  /** Events that the agent reports as dropped. */
  readonly dropped: number;
  /** Events that were lost, at least: those of `dropped`, and those that cut transfers lack where the ring was full. */
  readonly lost: number;
  /** Drains that found the ring full. */
  readonly foundFull?: number | undefined;
  /** Upper bound on the time for which the ring was full. */
  readonly foundFullMs?: number | undefined;
  /** Only while observed: observations that found the ring full without a consumer, and those that came too late. */
  readonly undrained?: number | undefined;
  readonly lapped?: number | undefined;
  /** Slots of the ring. */
  readonly capacity?: number | undefined;
  /** Highest recent fill ratio of the ring, 0 to 1. */
  readonly fill?: number | undefined;
  /** Time between two flushes of the agent. */
  readonly flushIntervalMs?: number | undefined;
  readonly restarts?: number | undefined;
  /** True if the numbers may be wrong. */
  readonly suspect: boolean;
  /** Pids of the processes that can write the ring; absent unless there are several. */
  readonly writers?: readonly number[] | undefined;
  /** Events that were read. */
  readonly events?: number | undefined;
  readonly wireVersion?: number | undefined;
  /** Time at which its process was seen to have ended. */
  readonly endedMs?: number | undefined;
  /** Absent where the origin does not watch for troubles itself. */
  readonly troubles?: Troubles | undefined;
  /** Times of the transfers in the last ten seconds, in the shorter known time, or in the last rare flush; absent without a transfer. */
  readonly recentTransferTimeUs?: Percentiles | undefined;
  readonly recentPostTimeUs?: Percentiles | undefined;
  /** Engine, instance and ranks, as far as its process and its name tell. */
  readonly engine?: EngineIdentity | undefined;
  /** By which way its bytes go, and what its process has loaded and opened. */
  readonly way?: AgentPath | undefined;
  /** CUDA_VISIBLE_DEVICES of its process. */
  readonly gpus?: string | undefined;
  readonly transferTimesUs?: Times | undefined;
  readonly postTimesUs?: Times | undefined;
  /** Sizes of transfers by direction, bytes. */
  readonly txSizes?: ExponentialTally | undefined;
  readonly rxSizes?: ExponentialTally | undefined;
  /** Path of the ring. */
  readonly path?: string | undefined;
  /** Positions in the ring, slots. */
  readonly ring?: { readonly readPos: number; readonly writePos: number; readonly pending: number } | undefined;
  /** User of its process. */
  readonly uid?: number | undefined;
  /** Local rank, from the environment of its process. */
  readonly rank?: string | undefined;
  /** Models of the GPUs that its process may use. */
  readonly gpuModels?: readonly string[] | undefined;
  /** Configured attributes, as its series have them. */
  readonly attributes?: Readonly<Record<string, unknown>> | undefined;
}

type OfServe = AgentModel<number, ExponentialTally>;
/** An agent of serve of which these fields are known. */
export type WithKnown<Field extends keyof OfServe> = OfServe & {
  readonly [Key in Field]-?: NonNullable<OfServe[Key]>;
};

/** An agent of serve. Its `id` is unique in one process of serve. */
export type ServedAgent = WithKnown<
  | 'directory'
  | 'startTimeMs'
  | 'memoryBytes'
  | 'memoryApproximate'
  | 'registeredBytes'
  | 'foundFull'
  | 'foundFullMs'
  | 'capacity'
  | 'fill'
  | 'restarts'
  | 'events'
  | 'troubles'
>;

/** One kind of trouble. It begins anew if a minute without it has passed. Times are milliseconds since the epoch. */
export interface Trouble {
  /** Occurrences since `sinceMs`. */
  readonly count: number;
  readonly sinceMs: number;
  readonly lastMs: number;
  /** Occurrences of the last minute. */
  readonly lastMinute: number;
  /** Of lost events: the highest number of events per second since `sinceMs` that the agent wrote or lost, as far as known. */
  readonly perSecond?: number;
}

/** Registered memory that has grown without a rest. */
export interface MemoryGrowth {
  readonly sinceMs: number;
  /** Registered then, and since then. */
  readonly fromBytes: number;
  readonly bytes: number;
}

/** Troubles that are present, by kind. A kind is absent without an occurrence in the last minute. */
export interface Troubles {
  /** Drains that found the ring full. */
  readonly full?: Trouble;
  /** Events that the agent reports as dropped. */
  readonly dropped?: Trouble;
  /** Events that were lost, at least: those of `dropped`, and those that cut transfers lack where the ring was full. */
  readonly lost?: Trouble;
  /** Moves of the read position by another consumer. */
  readonly foreign?: Trouble;
  /** Restarts that could not be followed, so that numbers may be wrong. */
  readonly unfollowed?: Trouble;
  /** Several processes wrote the ring. Present for as long as the sums have what was counted meanwhile. */
  readonly shared?: Trouble;
  /** Failed operations; `statuses` has the counts since `sinceMs`, the most frequent status first. */
  readonly errors?: Trouble & { readonly statuses: readonly (readonly [status: string, count: number])[] };
  /** Only while observed: observations that found the ring full, because no consumer drains it. */
  readonly undrained?: Trouble;
  /** Only while observed: observations that were too late, so that events are missing. */
  readonly lapped?: Trouble;
}

/** Name for people: what the engine tells of an agent, or its own name. */
export const labelOfAgent = ({ engine, name }: Pick<AgentModel, 'engine' | 'name'>): string => engine?.label ?? name;
export const errorsOf = ({ errors }: Pick<AgentModel, 'errors'>): number =>
  errors.reduce((sum, count) => sum + count, 0);
export const requestsOf = ({ txRequests, rxRequests }: Pick<AgentModel, 'txRequests' | 'rxRequests'>): number =>
  txRequests + rxRequests;
/** Returns true if more events than `lost` may be lost: the ring was found full, and a ring does not count dropped events. */
export const mayHaveLostMore = ({ foundFull = 0, undrained = 0 }: AgentModel): boolean => foundFull + undrained > 0;
