/**
 * One metric's readings of the agents without series of their own, added up. Counters grow by what each agent gained
 * since the last look, so that an agent that leaves takes nothing away. Up-down counters add up the agents at hand;
 * of gauges the largest stands for all.
 */
import { type Attributes, type Exact, isTotal, type NumberMetric } from '../mapping/index.js';
import { increase, sum } from '../exact.js';

interface Total {
  readonly attributes: Attributes;
  value: Exact | undefined;
}

export class FoldedMetric {
  readonly #kind: NumberMetric['kind'];
  readonly #isTotal: boolean;
  /** By what tells its points apart, or event words. */
  readonly #totals = new Map<string, Total>();

  constructor(metric: Pick<NumberMetric, 'kind' | 'onlyGrows'>) {
    this.#kind = metric.kind;
    this.#isTotal = isTotal(metric);
  }

  /** Before each look: only totals remember. */
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
