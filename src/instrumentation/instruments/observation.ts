/** Observes one fresh snapshot into the instruments of one meter: the work of the batch callback. */
import type { BatchObservableResult, Observable } from '@opentelemetry/api';
import {
  type AgentSnapshot,
  type Attributes,
  eventLike,
  type Exact,
  hostAttributes,
  isTotal,
  type Labels,
  OVERFLOW_LABELS,
  toDouble,
  withLabels,
} from '../../mapping/index.js';
import type { Snapshot } from '../../shm-bridge/index.js';
import { type AgentRoster, pointAttributes, type RosterEntry } from '../agents/agent-roster.js';
import { eventKey, seriesKey, type SeriesContext } from '../agents/agent-series.js';
import type { DurationStats } from './duration-pump.js';
import type { InstrumentSet } from './instrument-set.js';
import type { FoldedMetric, KeyedMetric, MeterMemory } from './totals.js';
import { sum } from '../../ground/exact.js';
import { DURATION_METRICS, SELF_METRICS } from '../self-metrics.js';

const OVERFLOW_KEY = eventKey(OVERFLOW_LABELS);

export interface ObservationOptions extends SeriesContext {
  readonly instruments: InstrumentSet;
  /** False if only the metrics of agents are observed. */
  readonly hasOwnMetrics: boolean;
  readonly roster: AgentRoster;
  readonly memory: MeterMemory;
}

/** Totals of one metric's earlier tallies, by key of the point. */
type Earlier = ReadonlyMap<string, Exact> | undefined;

interface Numbers extends KeyedMetric {
  readonly observable: Observable;
  readonly folded: FoldedMetric;
  /** Index in the list of metrics. */
  readonly index: number;
}

/** Collects within this time share an interval: they come from several readers, which the callback cannot distinguish. */
const SAME_INTERVAL_MS = 1000;

const NO_RESULT: BatchObservableResult = { observe: () => {} };

export class Observation {
  readonly #options: ObservationOptions;
  readonly #numbers: readonly Numbers[];
  /** Agents with folded values at the last collect: folded counters grow by the gains since then. */
  #previous: ReadonlyMap<number, AgentSnapshot> = new Map();
  readonly #hostAttributes: Attributes;
  readonly #hostKey: string;
  /** Stats at the last collect and the one before: the interval of the share of durations. */
  #lastDurations: { readonly takenMs: number; readonly stats: DurationStats } = { takenMs: 0, stats: [] };
  #durationsBefore: DurationStats = [];

  constructor(options: ObservationOptions) {
    this.#options = options;
    const { metrics, instruments, memory, roster } = options;
    this.#numbers = metrics.flatMap((metric, index) => {
      if (metric.kind === 'histogram') return [];
      const pointKeys = metric.points.map(({ labels }) => seriesKey(labels));
      const folded = memory.folded(roster.other.key, metric);
      return [{ metric, index, pointKeys, folded, observable: instruments.numbers[index]! }];
    });
    this.#hostAttributes = hostAttributes(options.naming, options.hostname);
    this.#hostKey = seriesKey(this.#hostAttributes);
  }

  /** `snapshot`: the one of the roster's last refresh. `durations`: undefined while no tap is open. */
  observe(result: BatchObservableResult, snapshot: Snapshot, durations: DurationStats | undefined): void {
    const { roster, memory } = this.#options;
    memory.follow(roster, snapshot.takenMs, this.#numbers);
    const withFolded = new Map<number, AgentSnapshot>();
    for (const numbers of this.#numbers) {
      const { metric, observable, folded } = numbers;
      folded.begin();
      for (const entry of roster.entries) {
        const owner = entry.series.keyOf(metric);
        const earlier = isTotal(metric) ? memory.earlier.of(owner)?.get(metric.name) : undefined;
        this.#observePoints(result, numbers, entry, snapshot.takenMs, earlier);
        if (this.#observeEvents(result, numbers, entry, earlier) || entry.folded) {
          withFolded.set(entry.agent.id, entry.agent);
        }
      }
      folded.each((value, attributes) => result.observe(observable, toDouble(value, metric.divisor), attributes));
    }
    this.#previous = withFolded;
    if (!this.#options.hasOwnMetrics) return;
    this.#observeSelf(result, snapshot);
    if (durations !== undefined) this.#observeDurations(result, snapshot.takenMs, durations);
  }

  /** Keeps the last values of the counters. Called once, before the tallies may be gone. */
  end(snapshot: Snapshot, durations: DurationStats | undefined): void {
    this.observe(NO_RESULT, snapshot, durations);
    if (durations === undefined) return;
    for (const metric of DURATION_METRICS) {
      if (metric.kind !== 'counter') continue;
      for (const { labels, value } of metric.points(durations, durations)) {
        this.#options.memory.earlier.add(this.#hostKey, metric.name, seriesKey(labels), value);
      }
    }
  }

  #observePoints(
    result: BatchObservableResult,
    { metric, pointKeys, observable, folded: total, index }: Numbers,
    entry: RosterEntry,
    takenMs: number,
    earlier: Earlier,
  ): void {
    const { agent, folded } = entry;
    const { points, divisor } = metric;
    // Only totals need the previous reading. A point that computes a rate must be read only once per collect.
    const previous = folded && isTotal(metric) ? this.#previous.get(agent.id) : undefined;
    for (let p = 0; p < points.length; p++) {
      const value = points[p]!.read(agent, takenMs);
      if (value === undefined) continue;
      const attributes = pointAttributes(this.#options.roster, entry, index, p);
      const key = pointKeys[p]!;
      if (!folded) result.observe(observable, toDouble(sum(value, earlier?.get(key)), divisor), attributes);
      else total.add(key, () => attributes, value, previous && points[p]!.read(previous, takenMs));
    }
  }

  /** Returns true when an event was folded. */
  #observeEvents(
    result: BatchObservableResult,
    { metric: { perEvent, divisor }, observable, folded: total }: Numbers,
    entry: RosterEntry,
    earlier: Earlier,
  ): boolean {
    if (perEvent === undefined) return false;
    const { agent } = entry;
    let anyFolded = false;
    for (let e = 0; e < agent.events.length; e++) {
      const event = agent.events[e]!;
      if (!perEvent.applies(event)) continue;
      const { attributes, key, folded } = this.#options.roster.event(entry, e, event);
      if (folded !== true) {
        const value = sum(perEvent.read(event), earlier?.get(key));
        result.observe(observable, toDouble(value, divisor), attributes);
        continue;
      }
      anyFolded = true;
      const previous = this.#previous.get(agent.id);
      const before = previous && eventLike(previous, e, event);
      const had = before !== undefined && perEvent.applies(before);
      this.#foldEvent(total, key, perEvent.read(event), had ? perEvent.read(before) : undefined);
    }
    return anyFolded;
  }

  #foldEvent(total: FoldedMetric, key: string, current: Exact, previous: Exact | undefined): void {
    const { other, limit } = this.#options.roster;
    const admitted = limit.admitsFoldedEvent(key);
    const attributes = (): Attributes => {
      const [category, event] = key.split('\0');
      return other.withEvent(admitted ? { category: category!, event: event! } : OVERFLOW_LABELS);
    };
    total.add(admitted ? key : OVERFLOW_KEY, attributes, current, previous);
  }

  /** The collector's own counts live as long as the process. */
  #observeSelf(result: BatchObservableResult, snapshot: Snapshot): void {
    const { self } = this.#options.instruments;
    SELF_METRICS.forEach((metric, i) => this.#observeAll(result, self[i]!, metric.points(snapshot)));
  }

  #observeDurations(result: BatchObservableResult, takenMs: number, stats: DurationStats): void {
    const { instruments, memory } = this.#options;
    if (takenMs - this.#lastDurations.takenMs >= SAME_INTERVAL_MS) {
      this.#durationsBefore = this.#lastDurations.stats;
      this.#lastDurations = { takenMs, stats };
    }
    const earlier = memory.earlier.of(this.#hostKey);
    DURATION_METRICS.forEach((metric, i) => {
      const points = metric.points(stats, this.#durationsBefore);
      this.#observeAll(result, instruments.durationStats[i]!, points, earlier?.get(metric.name));
    });
  }

  #observeAll(
    result: BatchObservableResult,
    observable: Observable,
    points: readonly { labels: Labels; value: number }[],
    earlier?: Earlier,
  ): void {
    for (const { labels, value } of points) {
      const total = earlier === undefined ? value : sum(value, earlier.get(seriesKey(labels)));
      result.observe(observable, Number(total), withLabels(this.#options.naming, this.#hostAttributes, labels));
    }
  }
}
