/** What is found about the speed of transfers, as JSON has it. Pure; the live page uses this module, too. */
import type { AgentId } from '../model/agent-model.js';

export type SlowKind =
  /** The same bytes take longer than usual, and neither asking nor load explains it. */
  | 'slow-transfers'
  | 'slow-posts'
  /** All sizes take longer by the same time: the program asks later. */
  | 'late-completion'
  /** Transfers take longer because more of them are open. */
  | 'busy'
  /** The first transfers of an agent took long, the later ones did not. */
  | 'cold-start';

/** A class whose transfers are found. PlaceCounts in microseconds. */
export interface SlowClass {
  /** Inclusive; null above 1 GiB. */
  readonly upToBytes: number | null;
  readonly meanBytes: number;
  readonly timeUs: number;
  readonly usualUs: number;
  readonly postUs?: number;
  readonly usualPostUs?: number;
}

export interface SlowFact {
  readonly kind: SlowKind;
  readonly id: AgentId;
  /** Name for people. */
  readonly name: string;
  readonly direction: 'transmit' | 'receive';
  /** Begin of what is found, as far as the figures show it. */
  readonly sinceMs: number;
  /** Time at which it was found. */
  readonly saidMs: number;
  /** How many times as long as usual. */
  readonly factor: number;
  /** Ascending by size. */
  readonly classes: readonly SlowClass[];
  /** Smaller classes are as fast as usual. */
  readonly fromBytes?: number;
  /** True if late asking would look the same. */
  readonly ambiguous?: boolean;
  /** Compared with earlier agents of the host, because the agent has no past. */
  readonly againstOthers?: boolean;
}

/** Facts that a person should act on; the others are notes. */
export function isSlowAlarm({ kind }: Pick<SlowFact, 'kind'>): boolean {
  return kind === 'slow-transfers' || kind === 'slow-posts';
}
