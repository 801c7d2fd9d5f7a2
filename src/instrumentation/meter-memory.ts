/** What must be kept as long as a meter, over disable(), enable() and setConfig(), as the SDK keeps its series. */
import { isTotal, type NumberMetric } from '../mapping/index.js';
import type { AgentRoster, RosterEntry } from './agents/agent-roster.js';
import { EarlierTotals } from './earlier-totals.js';
import { FoldedMetric } from './folded-metric.js';

/** A counter or what else has number points, with what tells its points apart. */
export interface KeyedMetric {
  readonly metric: NumberMetric;
  /** Beside the metric's points. */
  readonly pointKeys: readonly string[];
}

interface Look {
  readonly entries: readonly RosterEntry[];
  readonly takenMs: number;
  readonly metrics: readonly KeyedMetric[];
}

export class MeterMemory {
  readonly earlier = new EarlierTotals();
  readonly #folded = new Map<string, FoldedMetric>();
  #last: Look = { entries: [], takenMs: 0, metrics: [] };

  /** `owner`: the series of agent `other`. The same object for the same series. */
  folded(owner: string, metric: NumberMetric): FoldedMetric {
    const key = JSON.stringify([owner, metric.name, metric.kind]);
    let folded = this.#folded.get(key);
    if (folded === undefined) this.#folded.set(key, (folded = new FoldedMetric(metric)));
    return folded;
  }

  /**
   * At each look, before anything is observed: what an agent of the last look had reached that is not there any more is
   * kept for the next one with its attributes.
   */
  follow(roster: AgentRoster, takenMs: number, metrics: readonly KeyedMetric[]): void {
    for (const entry of this.#last.entries) if (roster.get(entry.agent.id) === undefined) this.#keep(entry);
    this.#last = { entries: roster.entries, takenMs, metrics };
  }

  #keep({ agent, series, folded }: RosterEntry): void {
    if (folded) return; // `other` counts what agents gain, so that it loses nothing with them
    for (const { metric, pointKeys } of this.#last.metrics) {
      const { name, points, perEvent } = metric;
      if (!isTotal(metric)) continue;
      const owner = series.keyOf(metric);
      points.forEach((point, p) => {
        this.earlier.add(owner, name, pointKeys[p]!, point.read(agent, this.#last.takenMs) ?? 0);
      });
      agent.events.forEach((event, e) => {
        if (perEvent?.applies(event) !== true) return;
        const { words, folded } = series.event(e, event);
        if (folded !== true) this.earlier.add(owner, name, words, perEvent.read(event));
      });
    }
  }
}
