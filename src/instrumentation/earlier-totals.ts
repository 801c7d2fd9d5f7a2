/**
 * What counters had reached in tallies that are gone. The SDK forgets no series of an observable counter: a tally that
 * begins again at 0 is observed on top of those before it, or the SDK would take its first sum for one that went on.
 */
import type { Exact } from '../mapping/index.js';
import { sum } from '../exact.js';

/** By metric name, then by what tells the points of the metric apart. */
export type Totals = ReadonlyMap<string, ReadonlyMap<string, Exact>>;

/** The SDK keeps no more series per instrument than this: beyond it there is nothing to go on from. */
const MAX_OWNERS = 2000;

export class EarlierTotals {
  readonly #byOwner = new Map<string, Map<string, Map<string, Exact>>>();

  /** `owner`: all that the attributes of a series say, but for the labels of its point. */
  of(owner: string): Totals | undefined {
    return this.#byOwner.get(owner);
  }

  add(owner: string, metric: string, point: string, total: Exact): void {
    if (Number(total) === 0) return; // most counters of most agents, such as errors
    let metrics = this.#byOwner.get(owner);
    if (metrics === undefined) {
      if (this.#byOwner.size >= MAX_OWNERS) return;
      this.#byOwner.set(owner, (metrics = new Map<string, Map<string, Exact>>()));
    }
    let points = metrics.get(metric);
    if (points === undefined) metrics.set(metric, (points = new Map<string, Exact>()));
    points.set(point, sum(total, points.get(point)));
  }
}
