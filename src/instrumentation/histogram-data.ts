/** Distributions as OpenTelemetry histogram points: explicit bounds, no min and max (a tally does not know them). */
import type { DataPoint, HistogramMetricData } from '@opentelemetry/sdk-metrics';
import { type Distribution, type HistogramMetric, toDouble } from '../mapping/index.js';
import { increase } from '../exact.js';
import { type AgentView, eachReading, type Moment } from './readings.js';

type OtelHistogram = HistogramMetricData['dataPoints'][number]['value'];

export function histogramPoints(
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

/** Bounds are the same for all agents of a source: they are divided once, not once per agent. */
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
