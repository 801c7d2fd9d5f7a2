/** What is found about the speed of transfers, as JSON has it. Pure; the live page uses this module, too. */

/** The agent wrote, or read. */
export const JUDGED_DIRECTIONS = ['transmit', 'receive'] as const;
export type JudgedDirection = (typeof JUDGED_DIRECTIONS)[number];

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

/** A class of sizes, where there is a usual time for it. Times in microseconds, medians. */
export interface SlowClass {
  /** Inclusive; null above 1 GiB. */
  readonly upToBytes: number | null;
  readonly meanBytes: number;
  readonly timeUs: number;
  readonly usualUs: number;
  readonly postUs?: number;
  readonly usualPostUs?: number;
  /** True for those that are found. */
  readonly slow: boolean;
}

export interface SlowFact {
  /** `uneven`: usual times of a direction are a hundred times those of the other one, or of an agent that does the same work. */
  readonly kind: SlowKind | 'uneven';
  readonly id: number | string;
  /** Name for people. */
  readonly name: string;
  readonly direction: JudgedDirection;
  /** Begin of what is found, as far as the figures show it. */
  readonly sinceMs: number;
  /** Time at which it was found. */
  readonly saidMs: number;
  /** How many times as long as usual. */
  readonly factor: number;
  /** Only of `uneven`: agent and direction whose times are the usual ones of `classes`. */
  readonly against?: {
    readonly id: number | string;
    readonly name: string;
    readonly direction: JudgedDirection;
  };
  /** Ascending by size. */
  readonly classes: readonly SlowClass[];
  /** True if late asking would look the same. */
  readonly ambiguous?: boolean;
  /** Compared with earlier agents of the host, because the agent has no past. */
  readonly againstOthers?: boolean;
  /** The agent moves as usual in the other direction. */
  readonly oneDirection?: boolean;
}

/** Returns the fact with other ids of its agents. */
export function withIds<Fact extends SlowFact>(fact: Fact, idOf: (id: Fact['id']) => Fact['id']): Fact {
  const { id, against } = fact;
  return { ...fact, id: idOf(id), ...(against && { against: { ...against, id: idOf(against.id) } }) };
}

/** True if an operator can take it as usual. */
export function isAcceptable(finding: { readonly kind: string }): boolean {
  return isSlowAlarm(finding) || finding.kind === 'uneven';
}

/** True for what a person should act on; the others are notes. */
export function isSlowAlarm({ kind }: { readonly kind: string }): boolean {
  return kind === 'slow-transfers' || kind === 'slow-posts';
}
