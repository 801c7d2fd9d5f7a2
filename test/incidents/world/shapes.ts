/** Shapes of a world as data: agents with their programs, and faults. Times in seconds are virtual, from the start. */
import type { Random } from './random.js';

/** Transfers that a program asks for. Functions of `t` take the time in seconds. */
export type Asking =
  /** A Poisson process; `load` multiplies its rate. */
  | { readonly kind: 'poisson'; readonly perSecond: number; readonly load?: (t: number) => number }
  /** A number of transfers is open at any time; each is followed by another after a pause. */
  | { readonly kind: 'closed'; readonly open: (t: number) => number; readonly thinkS: number }
  | { readonly kind: 'burst'; readonly count: (t: number) => number; readonly everyS: number }
  /** Asks for the same transfers as another agent, at the same times. */
  | { readonly kind: 'same'; readonly as: string };

export interface Posting {
  readonly us: number;
  /** Added for each block of a transfer. */
  readonly perBlockUs: number;
  readonly blockBytes: number;
  readonly sigma: number;
  readonly tailShare: number;
  readonly tailFactor: number;
}

/** A loop that asks for the state of transfers once a step. */
export interface StepLoop {
  readonly ms: number;
  /** A step is longer by this share for each open transfer. */
  readonly growth: number;
  /** Agents that name the same loop take the same steps. */
  readonly shared?: string;
}

/** Transfers that end inside of their post. */
export interface Inline {
  readonly share: number;
  readonly bytesPerUs: number;
  readonly us: number;
}

export interface Program {
  readonly direction: 'tx' | 'rx';
  /** Agents that name the same link share its rate. */
  readonly link?: string;
  readonly bytesPerUs: number;
  /** Multiplies the bytes that the link moves. */
  readonly noise: (random: Random) => number;
  readonly outlierShare: number;
  /** From the end on the link until the transfer can be seen to be complete. */
  readonly baseUs: number;
  /** `i`: number of the agent in its row. */
  readonly size: (random: Random, t: number, i: number) => number;
  readonly asking: Asking;
  readonly post: Posting;
  /** Absent: the program sees the end of a transfer at once. */
  readonly loop?: StepLoop;
  readonly inline?: Inline;
  /** What the first transfer takes more; later ones less and less. */
  readonly warmMs?: number;
  readonly fromS?: number;
  readonly endsS?: number;
}

export interface AgentRow extends Program {
  readonly name: string;
  readonly i: number;
}

export type World = readonly AgentRow[];

export type FaultKind =
  /** The rate of the link is divided. */
  | 'link'
  /** Transfers from `fromBytes` on need more of the link. */
  | 'size'
  /** Transfers above half of `upToBytes`, up to it, need more of the link. */
  | 'class'
  /** A share of the transfers needs more of the link. */
  | 'some'
  /** Posts take longer; with `share` some of them. */
  | 'post'
  /** Each transfer takes `factor` microseconds longer. */
  | 'latency'
  /** Steps are longer. */
  | 'late'
  /** More or fewer transfers are asked for. */
  | 'volume'
  /** A share of the transfers does not reach the ring. */
  | 'loss'
  /** The step loop stands still for `stallS`, each `everyS`. */
  | 'stall';

export interface Fault {
  readonly kind: FaultKind;
  /** Undefined: all. */
  readonly agents?: readonly string[] | undefined;
  readonly factor: number;
  readonly fromS: number;
  readonly untilS?: number;
  readonly fromBytes?: number;
  readonly upToBytes?: number;
  readonly share?: number;
  /** Present for that long, then absent for that long, and so on. */
  readonly flapS?: number;
  /** Grows by this share each minute, from 1 on, instead of `factor`. */
  readonly creep?: number;
  readonly stallS?: number;
  readonly everyS?: number;
}

/** A transfer as the agent that made it saw it. */
export interface SeenTransfer {
  readonly agent: string;
  readonly seenUs: number;
  readonly postUs: number;
  readonly timeUs: number;
  readonly bytes: number;
  readonly direction: 'tx' | 'rx';
  /** True if the ring had no room for its events. */
  readonly lost: boolean;
}

/** What the collector finds in a ring, or of the processes that have it open, besides events. */
export type RingMark = 'full' | 'foreign' | 'shared' | 'unfollowed';

export interface SeenMark {
  readonly agent: string;
  readonly seenUs: number;
  readonly mark: RingMark;
}

/** Any other event that an agent writes. */
export interface SeenEvent {
  readonly agent: string;
  readonly seenUs: number;
  readonly event: string;
  readonly value: number;
}
