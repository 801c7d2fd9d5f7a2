/** State that lives as long as a meter, over disable(), enable() and setConfig(), because the SDK keeps its series that long. */
import { isTotal, type NumberMetric } from '../../mapping/index.js';
import type { AgentRoster, RosterEntry } from '../agents/agent-roster.js';
import { EarlierTotals, FoldedMetric } from './totals.js';

/** A metric with number points, and one key per point. */
export interface KeyedMetric {
  readonly metric: NumberMetric;
  /** Parallel to the metric's points. */
  readonly pointKeys: readonly string[];
}

interface Collect {
  readonly entries: readonly RosterEntry[];
  readonly takenMs: number;
  readonly metrics: readonly KeyedMetric[];
}

export class MeterMemory {
  readonly earlier = new EarlierTotals();
  readonly #folded = new Map<string, FoldedMetric>();
  #last: Collect = { entries: [], takenMs: 0, metrics: [] };

  /** Returns the same object for the same series. `owner`: key of the series of agent `other`. */
  folded(owner: string, metric: NumberMetric): FoldedMetric {
    const key = JSON.stringify([owner, metric.name, metric.kind]);
    let folded = this.#folded.get(key);
    if (folded === undefined) this.#folded.set(key, (folded = new FoldedMetric(metric)));
    return folded;
  }

  /** Keeps the totals of agents that have left since the last collect. Called at each collect, before it observes. */
  follow(roster: AgentRoster, takenMs: number, metrics: readonly KeyedMetric[]): void {
    for (const entry of this.#last.entries) if (roster.get(entry.agent.id) === undefined) this.#keep(entry);
    this.#last = { entries: roster.entries, takenMs, metrics };
  }

  #keep({ agent, series, folded }: RosterEntry): void {
    if (folded) return; // `other` counts the gains of agents and loses nothing with them
    for (const { metric, pointKeys } of this.#last.metrics) {
      const { name, points, perEvent } = metric;
      if (!isTotal(metric)) continue;
      const owner = series.keyOf(metric);
      points.forEach((point, p) => {
        this.earlier.add(owner, name, pointKeys[p]!, point.read(agent, this.#last.takenMs) ?? 0);
      });
      agent.events.forEach((event, e) => {
        if (perEvent?.applies(event) !== true) return;
        const { key, folded } = series.event(e, event);
        if (folded !== true) this.earlier.add(owner, name, key, perEvent.read(event));
      });
    }
  }
}
