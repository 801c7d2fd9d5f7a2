/** Totals that outlive their tallies. */
import { increase, sum } from '../../ground/exact.js';
import { type Attributes, type Exact, isTotal, type NumberMetric } from '../../mapping/index.js';
import { madeOnce } from '../../ground/maps.js';
import type { AgentRoster, RosterEntry } from '../agents/agent-roster.js';

/** By metric name, then by key of the point. */
export type Totals = ReadonlyMap<string, ReadonlyMap<string, Exact>>;

/** The SDK keeps no more series per instrument, so a total beyond them would continue no series. */
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
    if (Number(total) === 0) return; // as most counters are, such as those of errors
    if (this.#byOwner.size >= MAX_OWNERS && !this.#byOwner.has(owner)) return;
    const points = madeOnce(
      madeOnce(this.#byOwner, owner, () => new Map<string, Map<string, Exact>>()),
      metric,
      () => new Map<string, Exact>(),
    );
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
    const total = madeOnce(this.#totals, key, (): Total => ({ attributes: attributes(), value: undefined }));
    const gained = this.#isTotal ? increase(current, previous) : current;
    if (total.value === undefined) total.value = gained;
    else
      total.value = this.#kind === 'gauge' ? (gained > total.value ? gained : total.value) : sum(total.value, gained);
  }

  each(use: (value: Exact, attributes: Attributes) => void): void {
    for (const { value, attributes } of this.#totals.values()) if (value !== undefined) use(value, attributes);
  }
}

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

/** Lives as long as a meter, over disable(), enable() and setConfig(), because the SDK keeps its series that long. */
export class MeterMemory {
  readonly earlier = new EarlierTotals();
  readonly #folded = new Map<string, FoldedMetric>();
  #last: Collect = { entries: [], takenMs: 0, metrics: [] };

  /** Returns the same object for the same series. `owner`: key of the series of agent `other`. */
  folded(owner: string, metric: NumberMetric): FoldedMetric {
    const key = JSON.stringify([owner, metric.name, metric.kind]);
    return madeOnce(this.#folded, key, () => new FoldedMetric(metric));
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
