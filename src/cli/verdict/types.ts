/** Types of the verdict: the states of agents, and what is wrong with them, in words. Pure; the live page uses them, too. */
import type { AgentLife } from '../../tally.js';

/** One kind of trouble. It begins anew if a minute without it has passed. Times are milliseconds since the epoch. */
export interface Trouble {
  /** Occurrences since `sinceMs`. */
  readonly count: number;
  readonly sinceMs: number;
  readonly lastMs: number;
  /** Occurrences of the last minute. */
  readonly lastMinute: number;
}

/** Troubles that are present, by kind. A kind is absent without an occurrence in the last minute. */
export interface Troubles {
  /** Drains that found the ring full. */
  readonly full?: Trouble;
  /** Events that the agent reports as dropped. */
  readonly dropped?: Trouble;
  /** Moves of the read position by another consumer. */
  readonly foreign?: Trouble;
  /** Restarts that could not be followed, so that numbers may be wrong. */
  readonly unfollowed?: Trouble;
  /** Failed operations; `statuses` has the counts since `sinceMs`, the most frequent status first. */
  readonly errors?: Trouble & { readonly statuses: readonly (readonly [status: string, count: number])[] };
  /** Only while observed: observations that found the ring full, because no consumer drains it. */
  readonly undrained?: Trouble;
  /** Only while observed: observations that were too late, so that events are missing. */
  readonly lapped?: Trouble;
}

/**
 * An agent that ended while it was transferring: its process was seen to end, a transfer had finished in the last sample before
 * or since then, and memory was still registered. A normal end deregisters it.
 */
export interface EndedAgent {
  readonly id: number | string;
  readonly name: string;
  readonly endedMs: number;
}

/** An agent, as far as its state depends on it. */
export interface AgentFacts {
  readonly id: number | string;
  /** For people. */
  readonly name: string;
  readonly life: AgentLife;
  /** Time since its last event, milliseconds; absent if unknown. */
  readonly idleMs?: number;
  /** Time at which its process was seen to have ended. */
  readonly endedMs?: number;
  /** Slots of its ring. */
  readonly capacity?: number;
  readonly troubles: Troubles;
}

/** Origin of the figures: a running serve, or rings that are observed. */
export interface Origin {
  readonly kind: 'serve' | 'rings';
  /** Host, or directories: `gpu-node-17:9464`. */
  readonly name: string;
  /** Directories of the rings, if they are known. */
  readonly directories: readonly string[];
}

export interface FailingExporter {
  readonly name: string;
  readonly failingSinceMs: number;
  readonly reason: string;
}

/** All that a verdict depends on. An absent field is unknown, and no finding follows from it. */
export interface VerdictInput {
  readonly origin: Origin;
  /** Time of the figures, milliseconds since the epoch. All times are of the same clock. */
  readonly takenMs: number;
  /** Present if there is no newer answer: the time without one, and the reason. `answered`: false if there was never one. */
  readonly stale?: { readonly forMs: number; readonly reason?: string; readonly answered?: false };
  readonly agents: readonly AgentFacts[];
  /** Newest first. */
  readonly ended?: readonly EndedAgent[];
  readonly problems?: readonly { readonly path: string; readonly state: string; readonly reason: string }[];
  readonly problemCount?: number;
  readonly failingExporters?: readonly FailingExporter[];
  readonly stateProblems?: readonly { readonly path: string; readonly reason: string }[];
  readonly stateProblemCount?: number;
  /** Time since the collector thread's last turn, if that is too long. */
  readonly collectorLateMs?: number;
  /** Begin of the observation: "nothing failed in 5 min" names no longer time. */
  readonly observedSinceMs: number;
}

export type AgentState = 'incomplete' | 'failing' | 'ended' | 'live' | 'idle';

/** State of one agent, and the time since which it has it; absent if unknown. */
export interface StateOfAgent {
  readonly state: AgentState;
  readonly sinceMs?: number;
}

export type FindingKind =
  | 'stale'
  | 'none'
  /** Numbers are too low or may be wrong: ring full, dropped events, another reader, unfollowed restart, late collector. */
  | 'incomplete'
  | 'failing'
  | 'ended'
  /** Failing exporters. */
  | 'receiver'
  /** Files that cannot be read. */
  | 'problem'
  /** State that is not kept. */
  | 'state'
  /** Nothing can be said yet: there is only one sample. */
  | 'measuring'
  | 'well';

/** `ok`: green, `info`: blue, `warn`: amber, `bad`: red. */
export type Tone = 'ok' | 'info' | 'warn' | 'bad';
export type Shape = 'tick' | 'ring' | 'clock' | 'triangle' | 'diamond' | 'cross' | 'dot' | 'circle';

export interface Finding {
  readonly kind: FindingKind;
  readonly tone: Tone;
  readonly shape: Shape;
  /** `Data incomplete` */
  readonly word: string;
  /** The finding, without an end stop: `prefill-tp5: ring found full 214 times since 14:30:30, so its numbers are too low` */
  readonly sentence: string;
  /** Advice, a whole sentence; absent if there is nothing to do. */
  readonly advice?: string;
  /** Agents that it concerns; empty if it concerns no particular one. */
  readonly agents: readonly (number | string)[];
  readonly sinceMs?: number;
}

export interface Verdict {
  /** The most important finding; the finding `well` or `measuring` if there is no other. */
  readonly first: Finding;
  /** All findings, the most important one first; empty if all is well. */
  readonly findings: readonly Finding[];
  readonly states: ReadonlyMap<number | string, StateOfAgent>;
  /** Number of agents in each state. */
  readonly counts: Readonly<Record<AgentState, number>>;
}
