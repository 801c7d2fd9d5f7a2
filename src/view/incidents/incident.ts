/** The shape of an incident: a finding with its begin, its end and its worst. Pure; the live page uses this module, too. */
import type { FindingKind, FindingSize, Level } from '../verdict/types.js';

/** Incidents are kept for this long after their end. */
export const INCIDENTS_KEPT_MS = 24 * 3_600_000;

/** Times are milliseconds since the epoch. */
export interface Incident {
  readonly kind: FindingKind;
  /** The highest one that it had. */
  readonly level: Level;
  /** `Data incomplete` */
  readonly word: string;
  /** Sentence of the finding at its highest size; without a size, its last one. No end stop. */
  readonly sentence: string;
  /** Names of the first agents that it concerned; empty if it concerned no particular one. */
  readonly agents: readonly string[];
  /** Number of all of them. */
  readonly agentCount: number;
  /** Since when it held, as far as known: earlier than the sample that first had it. */
  readonly beginMs: number;
  /** Time of the first sample that had it. */
  readonly saidMs: number;
  /** Time of the first sample without it; absent while it holds. */
  readonly endMs?: number;
  /** True if serve ended before the incident: `endMs` is the last time at which it was seen. */
  readonly untilServeEnded?: true;
  /** The highest size that it had. */
  readonly peak?: FindingSize;
  readonly cause?: string;
}
