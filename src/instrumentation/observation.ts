/** What the batch callback does: one fresh snapshot, observed into the instruments of one meter. */
import type { BatchObservableResult, Observable } from '@opentelemetry/api';
import {
  type AgentReading,
  type Attributes,
  eventLike,
  type Exact,
  hostAttributes,
  type Labels,
  type Metric,
  type Naming,
  type NumberMetric,
  OVERFLOW_LABELS,
  toDouble,
  withLabels,
} from '../mapping/index.js';
import type { Snapshot } from '../shm-bridge/types.js';
import { type AgentRoster, pointAttributes, type RosterEntry } from './agents/agent-roster.js';
import { wordsOf } from './agents/agent-series.js';
import { DURATION_METRICS } from './duration-metrics.js';
import type { DurationStats } from './duration-pump.js';
import { FoldedMetric } from './folded-metric.js';
import type { InstrumentSet } from './instrument-set.js';
import { SELF_METRICS } from './self-metrics.js';

const OVERFLOW_WORDS = wordsOf(OVERFLOW_LABELS);

export interface ObservationOptions {
  readonly naming: Naming;
  readonly hostname: string;
  readonly metrics: readonly Metric[];
  readonly instruments: InstrumentSet;
  readonly roster: AgentRoster;
}

export class Observation {
  readonly #options: ObservationOptions;
  /** Beside the metrics; undefined for histograms. */
  readonly #folded: readonly (FoldedMetric | undefined)[];
  /** Agents of the last look of which something was folded: counters are folded by what they gained. */
  #previous: ReadonlyMap<number, AgentReading> = new Map();
  readonly #hostAttributes: Attributes;

  constructor(options: ObservationOptions) {
    this.#options = options;
    this.#folded = options.metrics.map(({ kind }) => (kind === 'histogram' ? undefined : new FoldedMetric(kind)));
    this.#hostAttributes = hostAttributes(options.naming, options.hostname);
  }

  /** `snapshot` is the one that the roster was refreshed with. `durations`: undefined while no tap is open. */
  observe(result: BatchObservableResult, snapshot: Snapshot, durations: DurationStats | undefined): void {
    const { metrics, instruments, roster } = this.#options;
    const withFolded = new Map<number, AgentReading>();
    metrics.forEach((metric, m) => {
      if (metric.kind === 'histogram') return;
      const observable = instruments.numbers[m]!;
      const folded = this.#folded[m]!;
      folded.begin();
      for (const entry of roster.entries) {
        this.#observePoints(result, observable, metric, m, entry, snapshot.takenMs);
        if (this.#observeEvents(result, observable, metric, m, entry) || entry.folded) {
          withFolded.set(entry.agent.id, entry.agent);
        }
      }
      folded.each((value, attributes) => result.observe(observable, toDouble(value, metric.divisor), attributes));
    });
    this.#previous = withFolded;
    this.#observeSelf(result, snapshot, durations);
  }

  #observePoints(
    result: BatchObservableResult,
    observable: Observable,
    { points, divisor, kind }: NumberMetric,
    m: number,
    entry: RosterEntry,
    takenMs: number,
  ): void {
    const { agent, folded } = entry;
    // Only counters look back, and what reads a rate must be asked once.
    const previous = folded && kind === 'counter' ? this.#previous.get(agent.id) : undefined;
    for (let p = 0; p < points.length; p++) {
      const value = points[p]!.read(agent, takenMs);
      if (value === undefined) continue;
      const attributes = pointAttributes(this.#options.roster, entry, m, p);
      if (!folded) result.observe(observable, toDouble(value, divisor), attributes);
      else this.#folded[m]!.add(p, () => attributes, value, previous && points[p]!.read(previous, takenMs));
    }
  }

  /** True when an event was folded. */
  #observeEvents(
    result: BatchObservableResult,
    observable: Observable,
    { perEvent, divisor }: NumberMetric,
    m: number,
    entry: RosterEntry,
  ): boolean {
    if (perEvent === undefined) return false;
    const { agent } = entry;
    let anyFolded = false;
    for (let e = 0; e < agent.events.length; e++) {
      const event = agent.events[e]!;
      if (!perEvent.applies(event)) continue;
      const { attributes, words, folded } = this.#options.roster.event(entry, e, event);
      if (folded !== true) {
        result.observe(observable, toDouble(perEvent.read(event), divisor), attributes);
        continue;
      }
      anyFolded = true;
      const previous = this.#previous.get(agent.id);
      const before = previous && eventLike(previous, e, event);
      const had = before !== undefined && perEvent.applies(before);
      this.#foldEvent(m, words, perEvent.read(event), had ? perEvent.read(before) : undefined);
    }
    return anyFolded;
  }

  #foldEvent(m: number, words: string, current: Exact, previous: Exact | undefined): void {
    const { other, limit } = this.#options.roster;
    const admitted = limit.admitsFoldedEvent(words);
    const attributes = (): Attributes => {
      const [category, event] = words.split('\0');
      return other.withEvent(admitted ? { category: category!, event: event! } : OVERFLOW_LABELS);
    };
    this.#folded[m]!.add(admitted ? words : OVERFLOW_WORDS, attributes, current, previous);
  }

  #observeSelf(result: BatchObservableResult, snapshot: Snapshot, durations: DurationStats | undefined): void {
    const { instruments } = this.#options;
    const observe = (observable: Observable, points: { labels: Labels; value: number }[]) => {
      for (const { labels, value } of points) {
        result.observe(observable, value, withLabels(this.#options.naming, this.#hostAttributes, labels));
      }
    };
    SELF_METRICS.forEach((metric, i) => observe(instruments.self[i]!, metric.points(snapshot)));
    if (durations === undefined) return;
    DURATION_METRICS.forEach((metric, i) => observe(instruments.durationStats[i]!, metric.points(durations)));
  }
}
