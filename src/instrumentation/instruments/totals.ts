/** Totals that outlive the tallies they come from. */
import { type Attributes, type Exact, isTotal, type NumberMetric } from '../../mapping/index.js';
import { increase, sum } from '../../exact.js';

/** By metric name, then by key of the point. */
export type Totals = ReadonlyMap<string, ReadonlyMap<string, Exact>>;

/** The SDK keeps no more series per instrument, so a total beyond them continues none. */
const MAX_OWNERS = 2000;

/**
 * Values that counters had reached in tallies that are gone. The SDK never forgets a series of an observable counter. A
 * tally that begins again at 0 is therefore observed on top of the earlier ones.
 */
export class EarlierTotals {
  readonly #byOwner = new Map<string, Map<string, Map<string, Exact>>>();

  /** `owner`: key of the series' attributes without the labels of the point. */
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

interface Total {
  readonly attributes: Attributes;
  value: Exact | undefined;
}

/**
 * Sum of one metric over the folded agents. Counters grow by the gains of each agent, so that an agent that leaves takes
 * nothing away. Up-down counters add up the present agents. Gauges show the largest value.
 */
export class FoldedMetric {
  readonly #kind: NumberMetric['kind'];
  readonly #isTotal: boolean;
  /** By key of the point or of the event. */
  readonly #totals = new Map<string, Total>();

  constructor(metric: Pick<NumberMetric, 'kind' | 'onlyGrows'>) {
    this.#kind = metric.kind;
    this.#isTotal = isTotal(metric);
  }

  /** Begins a collect: only totals keep their values. */
  begin(): void {
    if (this.#isTotal) return;
    for (const total of this.#totals.values()) total.value = undefined;
  }

  add(key: string, attributes: () => Attributes, current: Exact, previous: Exact | undefined): void {
    let total = this.#totals.get(key);
    if (total === undefined) this.#totals.set(key, (total = { attributes: attributes(), value: undefined }));
    const gained = this.#isTotal ? increase(current, previous) : current;
    if (total.value === undefined) total.value = gained;
    else total.value = this.#kind === 'gauge' ? larger(total.value, gained) : sum(total.value, gained);
  }

  each(use: (value: Exact, attributes: Attributes) => void): void {
    for (const { value, attributes } of this.#totals.values()) if (value !== undefined) use(value, attributes);
  }
}

function larger(a: Exact, b: Exact): Exact {
  return a > b ? a : b;
}
