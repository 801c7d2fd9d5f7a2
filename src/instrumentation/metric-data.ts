/** Readings of this moment, and for deltas of the moment before, as OpenTelemetry metric data. */
import { type HrTime, ValueType } from '@opentelemetry/api';
import { AggregationTemporality, type DataPoint, DataPointType, type MetricData } from '@opentelemetry/sdk-metrics';
import { type Exact, type Metric, type NumberMetric, toDouble } from '../mapping/index.js';
import { histogramPoints } from './histogram-data.js';
import { increase } from '../exact.js';
import { type AgentView, eachReading, type Moment } from './readings.js';

export type NumberKind = NumberMetric['kind'];

/** The API's time: seconds and nanoseconds. */
export function hrTimeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.min(999_999_999, Math.round((ms - seconds * 1000) * 1e6))];
}

export function numberData(
  about: { name: string; description: string; unit: string; kind: NumberKind },
  delta: boolean,
  dataPoints: DataPoint<number>[],
): MetricData {
  const { name, description, unit, kind } = about;
  const descriptor = { name, description, unit, valueType: ValueType.DOUBLE };
  const aggregationTemporality =
    delta && kind === 'counter' ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
  if (kind === 'gauge') return { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints };
  const isMonotonic = kind === 'counter';
  return { descriptor, aggregationTemporality, dataPointType: DataPointType.SUM, isMonotonic, dataPoints };
}

/** Undefined when no agent has a point in it: a family without samples says nothing. */
export function metricData(
  metric: Metric,
  index: number,
  views: readonly AgentView[],
  moment: Moment,
  delta: boolean,
): MetricData | undefined {
  if (metric.kind === 'histogram') {
    const dataPoints = histogramPoints(metric, index, views, moment, delta);
    if (dataPoints.length === 0) return undefined;
    return {
      descriptor: {
        name: metric.name,
        description: metric.description,
        unit: metric.unit,
        valueType: ValueType.DOUBLE,
      },
      aggregationTemporality: delta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints,
    };
  }
  const dataPoints = numberPoints(metric, index, views, moment, delta && metric.kind === 'counter');
  return dataPoints.length === 0 ? undefined : numberData(metric, delta, dataPoints);
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
