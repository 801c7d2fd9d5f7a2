/** Instruments of one meter, made once: the SDK cannot delete an instrument. */
import { type Histogram, type Meter, type MetricOptions, type Observable, ValueType } from '@opentelemetry/api';
import type { HistogramMetric, Metric, NumberMetric } from '../../mapping/index.js';
import type { TallyOptions } from '../../shm-bridge/index.js';
import { DURATION_METRICS, SELF_METRICS } from '../self-metrics.js';

export type InstrumentSet = ReturnType<typeof createInstruments>;

export function createInstruments(meter: Meter, metrics: readonly Metric[], tally: TallyOptions) {
  /** Parallel to the metrics; undefined for histograms. */
  const numbers = metrics.map((metric) => (metric.kind === 'histogram' ? undefined : observable(meter, metric)));
  const self = SELF_METRICS.map((metric) => observable(meter, metric));
  const durationStats = DURATION_METRICS.map((metric) => observable(meter, metric));
  /** By event type. `metric`: index in the list of metrics. */
  const durations = new Map(
    metrics.flatMap((metric, index) => {
      if (metric.kind !== 'histogram' || metric.recordsType === undefined) return [];
      const bounds = tally.types[metric.recordsType]?.bounds ?? tally.durationBoundsUs;
      const histogram = durationHistogram(meter, metric, bounds);
      return [[metric.recordsType, { histogram, metric: index, divisor: metric.divisor }] as const];
    }),
  );
  /** Everything that the batch callback observes. */
  const observables = [...numbers.filter((one) => one !== undefined), ...self, ...durationStats];
  return { meter, numbers, self, durationStats, durations, observables };
}

/**
 * Detects a no-op meter: it returns the same object for every name. A check of its class would fail if the service has
 * another copy of the API.
 */
export function isNoop({ observables }: InstrumentSet): boolean {
  return new Set(observables).size < observables.length;
}

/** DOUBLE also for integers: an INT beyond 2^63 corrupts OTLP. */
function options({ unit, description }: Pick<Metric, 'unit' | 'description'>): MetricOptions {
  return { unit, description, valueType: ValueType.DOUBLE };
}

const CREATE = {
  counter: 'createObservableCounter',
  updowncounter: 'createObservableUpDownCounter',
  gauge: 'createObservableGauge',
} as const;

function observable(meter: Meter, metric: Pick<NumberMetric, 'name' | 'kind' | 'unit' | 'description'>): Observable {
  return meter[CREATE[metric.kind]](metric.name, options(metric));
}

function durationHistogram(meter: Meter, metric: HistogramMetric, boundsUs: readonly number[]): Histogram {
  const explicitBucketBoundaries = boundsUs.map((bound) => bound / metric.divisor);
  return meter.createHistogram(metric.name, { ...options(metric), advice: { explicitBucketBoundaries } });
}
