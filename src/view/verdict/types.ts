/** Types of the verdict: the states of agents, and what is wrong with them, in words. Pure; the live page uses them, too. */
import type { AgentId, AgentModel, AgentState } from '../model/agent-model.js';
import type { SlowFact } from '../slowness/slow-facts.js';
import type { HostPort } from '../../way/way.js';

/** An agent whose process was seen to end, and what was seen of it. A ring looks alike after a clean stop and after a kill. */
export interface EndedAgent {
  readonly id: AgentId;
  readonly name: string;
  readonly endedMs: number;
  /** Its process, as its logs name it. */
  readonly pid?: number;
  /** True if it had moved bytes in the last minute, or in its last two flushes. */
  readonly transferring?: boolean;
  /** Time of its last sample with a transfer; absent if none was seen. */
  readonly movedMs?: number;
  /** Registered at its end, if that is known exactly and not 0. */
  readonly memoryBytes?: number;
  /** Failed operations up to its end, without a pause of a minute, and the time of the first one. */
  readonly errors?: number;
  readonly errorsSinceMs?: number;
  /** Agent that came in its place: in its ring, or a new one of its directory with a like name. */
  readonly successor?: { readonly name: string; readonly sinceMs: number; readonly endedMs?: number };
  /** What was announced of it. */
  readonly announced?: string;
  /** Lives of its place that had ended in ten minutes, this one included. */
  readonly endsOfPlace?: number;
}

export interface Maintenance {
  readonly beginMs: number;
  /** Planned or real end. */
  readonly endMs: number;
  /** Glob of the names of the agents; absent for all. */
  readonly agent?: string;
  readonly text?: string;
}

/** What the verdict says of it. */
export interface Announced {
  readonly announced?: string;
}

/** Origin of the figures: a running serve, or rings that are observed. */
export interface Origin {
  readonly kind: 'serve' | 'rings';
  /** Host, or directories: `gpu-node-17:9464`. */
  readonly name: string;
  /** Directories and globs of the rings, if they are known. */
  readonly directories: readonly string[];
}

export interface FailingExporter {
  readonly name: string;
  readonly failingSinceMs: number;
  readonly reason: string;
}

/** The newest alarm that is over. */
export interface PastTrouble {
  readonly word: string;
  readonly agents: readonly string[];
  readonly agentCount: number;
  readonly beginMs: number;
  readonly endMs?: number;
}

/** All that a verdict depends on. Agents without troubles of their own have none. An absent field is unknown, and no finding follows from it. */
export interface VerdictInput {
  readonly origin: Origin;
  /** Time of the figures, milliseconds since the epoch. All times are of the same clock. */
  readonly takenMs: number;
  /** Present if there is no newer answer: the time without one, and the reason. `answered`: false if there was never one. */
  readonly stale?: { readonly forMs: number; readonly reason?: string; readonly answered?: false };
  readonly agents: readonly AgentModel[];
  /** Newest first. */
  readonly ended?: readonly EndedAgent[];
  /** What operators announced, newest first. */
  readonly maintenance?: readonly Maintenance[];
  readonly problems?: readonly { readonly path: string; readonly state: string; readonly reason: string }[];
  readonly problemCount?: number;
  readonly failingExporters?: readonly FailingExporter[];
  readonly stateProblems?: readonly { readonly path: string; readonly reason: string }[];
  readonly stateProblemCount?: number;
  /** What is found about the speed of transfers. */
  readonly slowness?: readonly (SlowFact & Announced)[];
  /** Number of agents that move and whose usual times are not known yet. */
  readonly unjudged?: number;
  /** RDMA ports of the host of the agents. */
  readonly ports?: readonly HostPort[];
  /** Time since the collector thread's last turn, if that is too long. */
  readonly collectorLateMs?: number;
  readonly lastTrouble?: PastTrouble;
  /** Begin of the observation: "nothing failed in 5 min" names no longer time. */
  readonly observedSinceMs: number;
}

/** State of one agent, and the time since which it has it; absent if unknown. */
export interface StateOfAgent {
  readonly state: AgentState;
  readonly sinceMs?: number;
}

export type FindingKind =
  | 'stale'
  | 'none'
  /**
   * Numbers are too low or may be wrong: ring full, dropped events, another reader, several writers, unfollowed
   * restart, late collector.
   */
  | 'incomplete'
  | 'failing'
  | 'ended'
  /** The same bytes move slower than before, or posting takes longer. */
  | 'slow-transfers'
  | 'slow-posts'
  /** Times grew without a slower link: the program asks late, has more in flight, or has just begun. */
  | 'late-completion'
  | 'busy'
  | 'cold-start'
  /** Usual times of two directions or ranks differ a hundredfold, and nothing earlier tells which are right. */
  | 'uneven'
  /** An agent with a steady pace has stopped while its process lives. */
  | 'quiet'
  /** Memory is registered, and nothing was ever transferred. */
  | 'unused'
  /** Registered memory only grows. */
  | 'memory'
  /** Bytes go by TCP beside RDMA ports, by one port of several, or by a slow one. */
  | 'way'
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
/** `alarm`: a person should act. `note`: worth knowing. */
export type Level = 'alarm' | 'note';
/** How bad a finding is, comparable with others of its kind: a factor, errors per minute, lost events. */
export interface FindingSize {
  readonly value: number;
  /** `12 times slower` */
  readonly text: string;
}

export type MarkShape = 'tick' | 'ring' | 'clock' | 'triangle' | 'diamond' | 'cross' | 'dot' | 'circle';

export interface Finding {
  readonly kind: FindingKind;
  readonly tone: Tone;
  readonly shape: MarkShape;
  /** `Data incomplete` */
  readonly word: string;
  /** The finding, without an end stop: `prefill-tp5: ring found full 214 times since 14:30:30, so its numbers are too low` */
  readonly sentence: string;
  /** Advice, a whole sentence; absent if there is nothing to do. */
  readonly advice?: string;
  /** Agents that it concerns; empty if it concerns no particular one. */
  readonly agents: readonly AgentId[];
  /** Their names, in the same order: `verdictOf()` adds them. */
  readonly names?: readonly string[];
  readonly sinceMs?: number;
  readonly size?: FindingSize;
  /** As far as it can be told: `the link: time grows with the bytes`. */
  readonly cause?: string;
}

export interface Verdict {
  /** The most important alarm; without one that there are no agents, or the finding `well` or `measuring`. */
  readonly first: Finding;
  /** All alarms, the most important one first, then all notes. */
  readonly findings: readonly Finding[];
  readonly states: ReadonlyMap<AgentId, StateOfAgent>;
  readonly counts: Readonly<Record<AgentState, number>>;
}
