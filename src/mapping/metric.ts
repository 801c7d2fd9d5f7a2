/** What a metric is in this room: a name, and how to read its points from one agent's tally. */
import type { Exact } from '../exact.js';
import type { Labels } from './naming.js';
import type { AgentReading, Buckets, EventReading } from './tally.js';

export interface Distribution extends Buckets {
  readonly sum: Exact;
}

export interface Point<Value> {
  readonly labels: Labels;
  /** `takenMs`: when the snapshot was taken, for values that are ages. Undefined: no such point for this agent. */
  read(agent: AgentReading, takenMs: number): Value | undefined;
}

/** A series per event key that the agent has sent, labelled by category and event. */
export interface EventPoint<Value> {
  /** False keeps the event out of this metric; once true for an event, it stays true. */
  applies(event: EventReading): boolean;
  read(event: EventReading): Value;
}

interface MetricBase<Value> {
  readonly name: string;
  readonly description: string;
  /** UCUM; empty where the name must not be changed by a backend that appends units. */
  readonly unit: string;
  /** Readings are divided by this, e.g. microseconds by 1e6; histogram bounds too. */
  readonly divisor: number;
  /** True for NIXL's own series in naming `nixl`: they carry the labels of NIXL's exporter. */
  readonly isNixlSeries?: boolean;
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
  /** The event type whose every value is one recording, where there is one: it can be fed event by event. */
  readonly recordsType?: number;
}

/** Returns whether the metric is a running total. A later agent with the same attributes continues it. */
export function isTotal({ kind, onlyGrows = false }: Pick<NumberMetric, 'kind' | 'onlyGrows'>): boolean {
  return kind === 'counter' || onlyGrows;
}

export type Metric = NumberMetric | HistogramMetric;

/** The nearest double to the exact reading, in the metric's unit. */
export function toDouble(reading: Exact, divisor: number): number {
  return divisor === 1 ? Number(reading) : Number(reading) / divisor;
}
