/** Turns counts of agents into recent troubles: counts do not say when they grew. Pure; the live page may use it, too. */
import type { AgentId, Trouble, Troubles } from '../model/agent-model.js';

/** For this long after its last occurrence, a trouble is present. */
export const PRESENT_MS = 60_000;

/** Counts that only grow. An absent one is unknown. Their meaning is that of the troubles of the same name. */
export interface TroubleCounts {
  readonly full?: number | undefined;
  readonly dropped?: number | undefined;
  readonly lost?: number | undefined;
  readonly foreign?: number | undefined;
  readonly unfollowed?: number | undefined;
  readonly shared?: number | undefined;
  readonly undrained?: number | undefined;
  readonly lapped?: number | undefined;
  /** Events that the agent wrote, and those that were lost for certain. */
  readonly written?: number | undefined;
  /** Failed operations, in the order of the statuses of the watch. */
  readonly errors?: readonly number[] | undefined;
}

export interface WatchedAgent {
  /** Identifies the agent in every sample. */
  readonly id: AgentId;
  /** Time at which the counts were 0; absent if unknown. */
  readonly startTimeMs?: number | undefined;
  readonly counts: TroubleCounts;
}

const KINDS = ['full', 'dropped', 'lost', 'foreign', 'unfollowed', 'shared', 'undrained', 'lapped'] as const;
type Kind = (typeof KINDS)[number];

const NONE: Troubles = {};
const NO_COUNTS: TroubleCounts = {};
const NO_ERRORS: readonly number[] = [];

interface Watched {
  counts: TroubleCounts;
  /** Absent while nothing is wrong, which is nearly always. */
  runs: Map<Kind | 'errors', Run> | undefined;
  failedMs?: number;
}

export class TroubleWatch {
  readonly #statuses: readonly string[];
  #beganMs: number | undefined;
  #lastMs = -Infinity;
  #agents = new Map<WatchedAgent['id'], Watched>();
  /** Given to the last call, and its answer. */
  #given: readonly WatchedAgent[] | undefined;
  #troubles: ReadonlyMap<WatchedAgent['id'], Troubles> = new Map();

  /**
   * `statuses`: names of `TroubleCounts.errors`. `beganMs`: all counts since then are recent, also those of the first sample;
   * default: the time of the first sample.
   */
  constructor(statuses: readonly string[], beganMs?: number) {
    this.#statuses = statuses;
    this.#beganMs = beganMs;
  }

  /**
   * Takes a sample of all agents, and returns the troubles of each. Agents that are missing in a sample are forgotten. The same
   * array again has the same counts: an idle fleet costs nothing.
   */
  observe(takenMs: number, agents: readonly WatchedAgent[]): ReadonlyMap<WatchedAgent['id'], Troubles> {
    this.#beganMs ??= takenMs;
    const isSame = agents === this.#given && takenMs >= this.#lastMs && !this.#hasRuns();
    if (!isSame) this.#troubles = this.#troublesOf(agents, takenMs);
    this.#given = agents;
    this.#lastMs = takenMs;
    return this.#troubles;
  }

  /** Returns the time of the last sample in which failed operations were more than before. */
  failedMs(id: AgentId): number | undefined {
    return this.#agents.get(id)?.failedMs;
  }

  /** Without a run, only a count that grows makes a trouble. */
  #hasRuns(): boolean {
    for (const { runs } of this.#agents.values()) if (runs !== undefined) return true;
    return false;
  }

  #troublesOf(agents: readonly WatchedAgent[], takenMs: number): ReadonlyMap<WatchedAgent['id'], Troubles> {
    // The clock was set back: all times are wrong.
    if (takenMs < this.#lastMs) this.#agents = new Map();
    const before = this.#agents;
    const troubles = new Map<WatchedAgent['id'], Troubles>();
    this.#agents = new Map();
    for (const agent of agents) {
      const watched = before.get(agent.id) ?? this.#begun(agent);
      this.#note(watched, agent.counts, takenMs);
      this.#agents.set(agent.id, watched);
      troubles.set(agent.id, troublesAt(watched, takenMs));
    }
    return troubles;
  }

  #begun({ startTimeMs, counts }: WatchedAgent): Watched {
    const isNew = startTimeMs !== undefined && startTimeMs >= this.#beganMs!;
    // What an earlier serve has left in the sums is a trouble of this one.
    return { counts: isNew ? NO_COUNTS : { ...counts, shared: 0 }, runs: undefined };
  }

  #note(watched: Watched, now: TroubleCounts, takenMs: number): void {
    const before = watched.counts;
    watched.counts = now;
    for (const kind of KINDS) {
      const added = (now[kind] ?? 0) - (before[kind] ?? 0);
      if (added > 0) runOf(watched, kind, takenMs).add(added, takenMs);
    }
    const seconds = (takenMs - this.#lastMs) / 1000;
    const written = (now.written ?? 0) - (before.written ?? now.written ?? 0);
    if (seconds > 0 && written > 0) watched.runs?.get('lost')?.noteRate(written / seconds);
    const errors = now.errors ?? NO_ERRORS;
    for (let i = 0; i < errors.length; i++) {
      const added = errors[i]! - (before.errors?.[i] ?? 0);
      if (added <= 0) continue;
      runOf(watched, 'errors', takenMs).add(added, takenMs, this.#statuses[i]);
      watched.failedMs = takenMs;
    }
  }
}

function runOf(watched: Watched, kind: Kind | 'errors', takenMs: number): Run {
  watched.runs ??= new Map();
  let run = watched.runs.get(kind);
  if (run === undefined || !run.isPresent(takenMs)) watched.runs.set(kind, (run = new Run(takenMs, kind === 'shared')));
  return run;
}

function troublesAt(watched: Watched, takenMs: number): Troubles {
  if (watched.runs === undefined) return NONE;
  for (const [kind, run] of watched.runs) if (!run.isPresent(takenMs)) watched.runs.delete(kind);
  if (watched.runs.size === 0) {
    watched.runs = undefined;
    return NONE;
  }
  return Object.fromEntries([...watched.runs].map(([kind, run]) => [kind, run.at(takenMs, kind === 'errors')]));
}

/** Occurrences of one kind without a pause of a minute. */
class Run {
  readonly #sinceMs: number;
  #lastMs: number;
  #count = 0;
  /** Times and numbers of the last minute. */
  #recent: (readonly [timeMs: number, count: number])[] = [];
  readonly #statuses = new Map<string, number>();
  #perSecond = 0;

  readonly #stays: boolean;

  constructor(sinceMs: number, stays: boolean) {
    this.#sinceMs = this.#lastMs = sinceMs;
    this.#stays = stays;
  }

  isPresent(nowMs: number): boolean {
    return this.#stays || nowMs - this.#lastMs < PRESENT_MS;
  }

  add(count: number, nowMs: number, status?: string): void {
    this.#count += count;
    this.#lastMs = nowMs;
    this.#recent.push([nowMs, count]);
    if (status !== undefined) this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + count);
  }

  noteRate(perSecond: number): void {
    this.#perSecond = Math.max(this.#perSecond, perSecond);
  }

  at(nowMs: number, hasStatuses: boolean): (Trouble & Pick<NonNullable<Troubles['errors']>, 'statuses'>) | Trouble {
    this.#recent = this.#recent.filter(([timeMs]) => nowMs - timeMs < PRESENT_MS);
    const lastMinute = this.#recent.reduce((sum, [, count]) => sum + count, 0);
    const perSecond = this.#perSecond > 0 ? { perSecond: Math.round(this.#perSecond) } : {};
    const trouble = { count: this.#count, sinceMs: this.#sinceMs, lastMs: this.#lastMs, lastMinute, ...perSecond };
    if (!hasStatuses) return trouble;
    return { ...trouble, statuses: [...this.#statuses].sort(([, a], [, b]) => b - a) };
  }
}
