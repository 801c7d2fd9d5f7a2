/** What top reads, wherever it reads it: agents' running totals, up to one time. */
import type { AgentLife } from '../../shm-bridge/types.js';
import type { Buckets } from '../figures/quantile.js';

export interface AgentTotals {
  /** The same in every sample, and no other agent's. */
  readonly id: string;
  readonly agent: string;
  /** The directory of its ring, or the host, where that is told. */
  readonly place?: string;
  readonly life: AgentLife;
  readonly pid?: number;
  readonly txBytes: number;
  readonly rxBytes: number;
  /** Finished transfers, both directions. */
  readonly requests: number;
  readonly errors: number;
  /** Events that the agent says it dropped. */
  readonly lost: number;
  /** True when more may be lost: its ring was found full, and a ring counts nothing. */
  readonly lostMore: boolean;
  /** True when these numbers are known to be too low. */
  readonly missed: boolean;
  /** Microseconds. */
  readonly transferTimes?: Buckets;
  readonly postTimes?: Buckets;
  /** Highest share of the ring that was found filled lately, 0 to 1. */
  readonly fill?: number;
  /** Since its last event, or since it is watched, milliseconds. */
  readonly idleMs?: number;
  /** An old file as a rule: empty or left by a process that is gone, and nothing moves. */
  readonly unused: boolean;
}

export interface Sample {
  /** Milliseconds since the epoch. */
  readonly takenMs: number;
  readonly agents: readonly AgentTotals[];
  /** What the user should know beside the numbers, most important first. */
  readonly notes: readonly string[];
}

export interface Source {
  /** Of what, in the header: directories, or an address. */
  readonly name: string;
  /** @throws Failure when there is nothing to read at all. */
  sample(): Promise<Sample>;
  /** What a command that ends without having seen an agent ends with. */
  whyNothing(): Error;
  close(): void;
}
