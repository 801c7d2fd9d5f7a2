/** Log lines about counts that earlier processes left: one at the start, and one for agents that are taken over later. */
import type { DiagLogger } from '@opentelemetry/api';
import { plural } from '../../plural.js';
import type { RecoveredCounts, Snapshot } from '../../shm-bridge/index.js';

interface Recovered {
  readonly startTimeMs: number;
  readonly events: RecoveredCounts['events'];
}

export class RecoveryLog {
  readonly #logger: DiagLogger;
  readonly #recovered: (agentId: number) => RecoveredCounts | undefined;
  /** Ids of agents that a line has counted and that are still there. */
  #logged: ReadonlySet<number> = new Set();

  /** `recovered`: returns what earlier processes counted of an agent. */
  constructor(logger: DiagLogger, recovered: (agentId: number) => RecoveredCounts | undefined) {
    this.#logger = logger;
    this.#recovered = recovered;
  }

  /** Writes at most one line. */
  write({ agents, stateProblems }: Snapshot): void {
    const logged = new Set<number>();
    const news: Recovered[] = [];
    for (const { id, recovered, startTimeMs } of agents) {
      if (!recovered) continue;
      const counts = this.#logged.has(id) ? undefined : this.#recovered(id);
      if (counts !== undefined) news.push({ startTimeMs, events: counts.events });
      if (counts !== undefined || this.#logged.has(id)) logged.add(id);
    }
    this.#logged = logged;
    if (news.length > 0) this.#logger.info(lineOf(news, stateProblems.length));
  }
}

function lineOf(agents: readonly Recovered[], problems: number): string {
  const events = agents.reduce((sum, one) => sum + one.events.reduce((count, event) => count + event.count, 0), 0);
  const since = new Date(Math.min(...agents.map(({ startTimeMs }) => startTimeMs))).toISOString();
  const what = `recovered ${plural(agents.length, 'agent')} with ${plural(events, 'event')}, counted since ${since}`;
  return problems === 0 ? what : `${what}; ${plural(problems, 'state file')} could not be used: see the warnings`;
}
