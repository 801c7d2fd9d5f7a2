/** Data that the live page fetches once a second. Counts and sums begin at `startTimeMs` of their agent. */

export interface PageData {
  readonly version: string;
  readonly hostname: string;
  readonly directories: readonly string[];
  /** Start of the process. Another process has other agents under the same ids. */
  readonly startedMs: number;
  readonly takenMs: number;
  readonly bounds: { readonly durationUs: readonly number[]; readonly sizeBytes: readonly number[] };
  /** In the order of `AgentData.errors`. */
  readonly errorStatuses: readonly string[];
  readonly agents: readonly AgentData[];
  /** Number of agents that the last entry of `agents` sums up; 0 where it is one agent. */
  readonly folded: number;
  readonly problems: readonly { readonly path: string; readonly state: string; readonly reason: string }[];
  readonly problemCount: number;
}

/** One agent. Sizes are bytes. */
export interface AgentData {
  readonly id: number;
  /** Has \xNN in place of control characters. */
  readonly name: string;
  readonly life: 'alive' | 'dead' | 'unknown';
  readonly startTimeMs: number;
  readonly idleMs: number;
  readonly txBytes: number;
  readonly rxBytes: number;
  readonly txRequests: number;
  readonly rxRequests: number;
  readonly errors: readonly number[];
  /** Registered and not yet deregistered. */
  readonly memory: number;
  /** Ever registered. */
  readonly registered: number;
  readonly memoryApproximate: boolean;
  readonly dropped: number;
  /** Drains that found the ring full. */
  readonly foundFull: number;
  /** Highest share of the ring that was found filled lately, 0 to 1. */
  readonly fill: number;
  readonly restarts: number;
  readonly suspect: boolean;
  /** Counts per bucket of `bounds`, and one more for values above. */
  readonly durations: readonly number[];
  readonly postDurations: readonly number[];
  readonly txSizes: readonly number[];
  readonly rxSizes: readonly number[];
}
