/**
 * Log lines about counts that earlier processes left: at the start, and for agents that are taken over later. A reason that
 * many agents share is one line.
 */
import type { DiagLogger } from '@opentelemetry/api';
import { eventName } from '../../mapping/index.js';
import { oneLine } from '../../ground/one-line.js';
import { plural } from '../../ground/figures/figure.js';
import type { RecoveredCounts, Snapshot, StateProblem } from '../../shm-bridge/index.js';

interface Recovered {
  readonly startTimeMs: number;
  readonly counts: RecoveredCounts;
}

export class RecoveryLog {
  readonly #logger: DiagLogger;
  readonly #recovered: (agentId: number) => RecoveredCounts | undefined;
  /** Ids of agents that a line has counted and that are still there. */
  #logged: ReadonlySet<number> = new Set();
  /** Paths of losses that a line has counted and that are still there. */
  #loggedLosses: ReadonlySet<string> = new Set();

  /** `recovered`: returns what earlier processes counted of an agent. */
  constructor(logger: DiagLogger, recovered: (agentId: number) => RecoveredCounts | undefined) {
    this.#logger = logger;
    this.#recovered = recovered;
  }

  write({ agents, stateProblems, stateLosses }: Snapshot): void {
    const logged = new Set<number>();
    const news: Recovered[] = [];
    for (const { id, recovered, startTimeMs } of agents) {
      if (!recovered) continue;
      const counts = this.#logged.has(id) ? undefined : this.#recovered(id);
      if (counts !== undefined) news.push({ startTimeMs, counts });
      if (counts !== undefined || this.#logged.has(id)) logged.add(id);
    }
    this.#logged = logged;
    this.#writeLosses(stateLosses);
    if (news.length === 0) return;
    this.#logger.info(lineOf(news, stateProblems.length + stateLosses.length));
    const begun = news.filter(({ counts }) => counts.begunHistograms !== undefined);
    if (begun.length > 0) this.#logger.warn(begunLine(begun));
  }

  #writeLosses(losses: readonly StateProblem[]): void {
    const news = losses.filter(({ path }) => !this.#loggedLosses.has(path));
    this.#loggedLosses = new Set(losses.map(({ path }) => path));
    const byReason = new Map<string, string[]>();
    for (const { path, reason } of news) {
      byReason.set(reason, [...(byReason.get(reason) ?? []), path]);
    }
    for (const [reason, [first, ...others]] of byReason) {
      const more = others.length === 0 ? '' : `, and of ${plural(others.length, 'other ring')}`;
      this.#logger.warn(oneLine(`state file of ring ${first}${more}: ${reason}`));
    }
  }
}

function lineOf(agents: readonly Recovered[], problems: number): string {
  const events = agents.reduce(
    (sum, { counts }) => sum + counts.events.reduce((count, event) => count + event.count, 0),
    0,
  );
  const since = new Date(Math.min(...agents.map(({ startTimeMs }) => startTimeMs))).toISOString();
  const what = `recovered ${plural(agents.length, 'agent')} with ${plural(events, 'event')}, counted since ${since}`;
  return problems === 0 ? what : `${what}; ${plural(problems, 'state file')} could not be used: see the warnings`;
}

/** Names of histograms of transfers, of both directions together. */
const OF_TRANSFERS = { size: 'sizes', duration: 'durations', throughput: 'throughputs' } as const;
const MOST_NAMES = 8;

function begunLine(agents: readonly Recovered[]): string {
  const names = new Set(
    agents.flatMap(({ counts: { begunHistograms = [], events } }) =>
      begunHistograms.map(({ of, index }) => (of === 'event' ? eventName(events[index]!) : OF_TRANSFERS[of])),
    ),
  );
  const listed = [...names].slice(0, MOST_NAMES).join(', ');
  const what = names.size > MOST_NAMES ? `${listed} and ${plural(names.size - MOST_NAMES, 'other')}` : listed;
  const where = plural(agents.length, 'agent');
  return oneLine(
    `the histograms of ${what} begin at 0 in ${where}, because an earlier process counted them in other buckets; sums go on`,
  );
}
