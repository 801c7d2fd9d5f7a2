/** A metric: its name, and the readings of its points from one agent's tally. */
import type { Exact } from '../ground/exact.js';
import type {
  AgentSnapshot,
  EventTally,
  EventValue,
  HistogramField,
  HistogramTally,
  NumberField,
} from '../ground/tally.js';
import type { Labels } from './naming.js';

export interface Distribution extends HistogramTally {
  readonly sum: Exact;
}

export interface Point<Value> {
  readonly labels: Labels;
  /** The field that read() hands on, if it does nothing else. */
  readonly field?: [Value] extends [Exact] ? NumberField : HistogramField;
  /** Returns undefined if the agent has no such point. `takenMs`: time of the snapshot, for values that are ages. */
  read(agent: AgentSnapshot, takenMs: number): Value | undefined;
}

/** One series per event key that the agent has sent, with the labels category and event. */
export interface EventPoint<Value> {
  /** Returns false for events that this metric leaves out. Once it returned true for an event, it always does. */
  applies(event: EventTally): boolean;
  /** The value that read() hands on, if it does nothing else. */
  readonly field?: EventValue;
  read(event: EventTally): Value;
}

interface MetricBase<Value> {
  readonly name: string;
  readonly description: string;
  /** UCUM; empty if a backend that appends units must not change the name. */
  readonly unit: string;
  /** Divisor of readings and histogram bounds, as 1e6 for microseconds. */
  readonly divisor: number;
  /** True for NIXL's own series in naming `nixl`: they carry the labels of NIXL's exporter. */
  readonly isNixlSeries?: boolean;
  /** True for the one metric that carries the agent's engine, instance and ranks as attributes. */
  readonly isInfo?: boolean;
  /** What read() needs of a snapshot beside the usual. */
  readonly needs?: 'sizeClasses' | 'timeModels';
  readonly points: readonly Point<Value>[];
  readonly perEvent?: EventPoint<Value>;
}

export interface NumberMetric extends MetricBase<Exact> {
  readonly kind: 'counter' | 'gauge' | 'updowncounter';
  /** True for a running total that is no counter because its name must not end in `_total`. */
  readonly onlyGrows?: boolean;
}

export interface HistogramMetric extends MetricBase<Distribution> {
  readonly kind: 'histogram';
  /** Type of the recorded events, if it is only one: the instrumentation can then record event by event. */
  readonly recordsType?: number | undefined;
}

export type Metric = NumberMetric | HistogramMetric;

/** Returns whether the metric is a running total. A later agent with the same attributes continues it. */
export function isTotal({ kind, onlyGrows = false }: Pick<NumberMetric, 'kind' | 'onlyGrows'>): boolean {
  return kind === 'counter' || onlyGrows;
}

/** Returns the nearest double to the exact reading, in the metric's unit. */
export function toDouble(reading: Exact, divisor: number): number {
  return divisor === 1 ? Number(reading) : Number(reading) / divisor;
}
