/** Readings of one collect, and for deltas of the previous one, as OpenTelemetry metric data. */
import { type HrTime, ValueType } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type HistogramMetricData,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import {
  type Distribution,
  type Exact,
  type HistogramMetric,
  type Metric,
  type NumberMetric,
  toDouble,
} from '../../mapping/index.js';
import { increase } from '../../exact.js';
import { type AgentView, eachReading, type Moment } from './readings.js';

type Descriptor = Pick<NumberMetric, 'name' | 'description' | 'unit' | 'kind'>;
type OtelHistogram = HistogramMetricData['dataPoints'][number]['value'];

/** Returns the API's time: seconds and nanoseconds. */
export function hrTimeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.min(999_999_999, Math.round((ms - seconds * 1000) * 1e6))];
}

export function numberData(about: Descriptor, delta: boolean, dataPoints: DataPoint<number>[]): MetricData {
  const { kind } = about;
  const descriptor = descriptorOf(about);
  const aggregationTemporality = temporalityOf(delta && kind === 'counter');
  if (kind === 'gauge') return { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints };
  const isMonotonic = kind === 'counter';
  return { descriptor, aggregationTemporality, dataPointType: DataPointType.SUM, isMonotonic, dataPoints };
}

/** Returns undefined when no agent has a point: a metric without points is left out. */
export function metricData(
  metric: Metric,
  index: number,
  views: readonly AgentView[],
  moment: Moment,
  delta: boolean,
): MetricData | undefined {
  if (metric.kind !== 'histogram') {
    const dataPoints = numberPoints(metric, index, views, moment, delta && metric.kind === 'counter');
    return dataPoints.length === 0 ? undefined : numberData(metric, delta, dataPoints);
  }
  const dataPoints = histogramPoints(metric, index, views, moment, delta);
  if (dataPoints.length === 0) return undefined;
  return {
    descriptor: descriptorOf(metric),
    aggregationTemporality: temporalityOf(delta),
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints,
  };
}

function descriptorOf({ name, description, unit }: Omit<Descriptor, 'kind'>): MetricData['descriptor'] {
  return { name, description, unit, valueType: ValueType.DOUBLE };
}

function temporalityOf(delta: boolean): AggregationTemporality {
  return delta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
}

function numberPoints(
  metric: NumberMetric,
  index: number,
  views: readonly AgentView[],
  moment: Moment,
  delta: boolean,
): DataPoint<number>[] {
  const dataPoints: DataPoint<number>[] = [];
  const { divisor } = metric;
  eachReading<Exact>(metric, index, views, moment, delta, (view, attributes, current, previous) => {
    dataPoints.push({
      startTime: delta ? view.deltaStartTime : view.startTime,
      endTime: moment.endTime,
      attributes,
      value: toDouble(delta ? increase(current, previous) : current, divisor),
    });
  });
  return dataPoints;
}

/** Explicit bounds, no min and max: a tally does not know them. */
function histogramPoints(
  metric: HistogramMetric,
  index: number,
  views: readonly AgentView[],
  moment: Moment,
  delta: boolean,
): DataPoint<OtelHistogram>[] {
  const dataPoints: DataPoint<OtelHistogram>[] = [];
  const boundaries = scaledBounds(metric.divisor);
  eachReading<Distribution>(metric, index, views, moment, delta, (view, attributes, current, previous) => {
    dataPoints.push({
      startTime: delta ? view.deltaStartTime : view.startTime,
      endTime: moment.endTime,
      attributes,
      value: histogramOf(current, delta ? previous : undefined, metric.divisor, boundaries(current.bounds)),
    });
  });
  return dataPoints;
}

function histogramOf(
  current: Distribution,
  previous: Distribution | undefined,
  divisor: number,
  boundaries: number[],
): OtelHistogram {
  const grew =
    previous !== undefined &&
    previous.counts.length === current.counts.length &&
    previous.counts.every((count, i) => count <= current.counts[i]!);
  const counts = grew ? current.counts.map((count, i) => count - previous.counts[i]!) : (current.counts as number[]);
  let count = 0;
  for (const inBucket of counts) count += inBucket;
  const sum = grew ? increase(current.sum, previous.sum) : current.sum;
  return { buckets: { boundaries, counts }, sum: toDouble(sum, divisor), count };
}

/** Returns a function that divides bounds once per source: all agents of a source have the same bounds. */
function scaledBounds(divisor: number): (bounds: readonly number[]) => number[] {
  let last: readonly number[] = [];
  let scaled: number[] = [];
  return (bounds) => {
    if (divisor === 1) return bounds as number[];
    if (bounds !== last && !(bounds.length === last.length && bounds.every((bound, i) => bound === last[i]))) {
      scaled = bounds.map((bound) => bound / divisor);
    }
    last = bounds;
    return scaled;
  };
}
