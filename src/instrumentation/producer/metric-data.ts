/** Readings of one collect, and for deltas of the previous one, as OpenTelemetry metric data. */
import { type HrTime, ValueType } from '@opentelemetry/api';
import type { DataPoint, HistogramMetricData, MetricData } from '@opentelemetry/sdk-metrics';
import {
  type AgentSnapshot,
  type Distribution,
  eventLike,
  type EventPoint,
  type Exact,
  type Metric,
  type NumberMetric,
  type Point,
  toDouble,
} from '../../mapping/index.js';
import { increase } from '../../ground/exact.js';
import type { ExponentialTally } from '../../ground/exponential.js';
import { madeOnce } from '../../ground/maps.js';
import type { AgentSeries } from '../agents/agent-series.js';
import { AggregationTemporality, DataPointType } from '../sdk-enums.js';
import { divided, type ExponentialForm, exponentialHistogramOf } from './exponential.js';

type Descriptor = Pick<NumberMetric, 'name' | 'description' | 'unit' | 'kind'>;
type OtelHistogram = HistogramMetricData['dataPoints'][number]['value'];

/** Explicit buckets, and exponential ones of the same values for an exposition that can have both. */
export type PageHistogram = OtelHistogram & { readonly exponential?: ExponentialTally };

/** One agent at this collect. */
export interface AgentView {
  readonly agent: AgentSnapshot;
  /**
   * The same agent at the previous collect, or as an earlier process left it; undefined if it is new, and for cumulative
   * data.
   */
  readonly previous: AgentSnapshot | undefined;
  readonly series: AgentSeries;
  readonly startTime: HrTime;
  /** Start of a delta: the previous collect, the agent's own start or, if it is recovered, the start of this process. */
  readonly deltaStartTime: HrTime;
}

export interface Moment {
  readonly takenMs: number;
  readonly endTime: HrTime;
}

/** Form of the data points, which each reader chooses. */
export interface PointForm {
  readonly delta: boolean;
  /** Undefined for histograms with explicit buckets. */
  readonly exponential: ExponentialForm | undefined;
  /** True for cumulative exponential buckets beside explicit ones. */
  readonly bothBuckets: boolean;
}

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

/** Returns the data of a metric; undefined if no agent has a point: a metric without points is left out. */
export function metricData(
  metric: Metric,
  index: number,
  views: readonly AgentView[],
  moment: Moment,
  { delta, exponential, bothBuckets }: PointForm,
): MetricData | undefined {
  const { divisor } = metric;
  if (metric.kind !== 'histogram') {
    const valueOf = (current: Exact, previous?: Exact): number => toDouble(increase(current, previous), divisor);
    const dataPoints = pointsOf(metric, index, views, moment, delta && metric.kind === 'counter', valueOf);
    return dataPoints.length === 0 ? undefined : numberData(metric, delta, dataPoints);
  }
  const about = { descriptor: descriptorOf(metric), aggregationTemporality: temporalityOf(delta) };
  if (exponential !== undefined) {
    const dataPoints = pointsOf(metric, index, views, moment, delta, (current: Distribution, previous?: Distribution) =>
      exponentialHistogramOf(current, previous, divisor, exponential),
    );
    if (dataPoints.length === 0) return undefined;
    return { ...about, dataPointType: DataPointType.EXPONENTIAL_HISTOGRAM, dataPoints };
  }
  const valueOf = (current: Distribution, previous?: Distribution): PageHistogram => {
    const histogram = histogramOf(current, previous, divisor, scaledBounds(current.bounds, divisor));
    if (!bothBuckets) return histogram;
    const { buckets, sum, count } = histogram; // a spread takes several times as long
    return { buckets, sum, count, exponential: divided(current.exponential, divisor) };
  };
  const dataPoints = pointsOf(metric, index, views, moment, delta, valueOf);
  return dataPoints.length === 0 ? undefined : { ...about, dataPointType: DataPointType.HISTOGRAM, dataPoints };
}

function descriptorOf({ name, description, unit }: Omit<Descriptor, 'kind'>): MetricData['descriptor'] {
  return { name, description, unit, valueType: ValueType.DOUBLE };
}

function temporalityOf(delta: boolean): AggregationTemporality {
  return delta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
}

/** A reading that may have begun later than its agent. */
type Begun = Exact | Distribution;

/** Returns the start time of a cumulative point. */
function startOf(reading: Begun, { startTime }: AgentView): HrTime {
  const ownMs = typeof reading === 'object' ? reading.startTimeMs : undefined;
  return ownMs === undefined ? startTime : hrTimeOf(ownMs);
}

/**
 * Returns each point of one metric over all agents. `valueOf`: makes a value from a reading and, for deltas, the previous
 * one. Deltas of 0 are included: a series that disappears would look like an agent that disappears.
 */
function pointsOf<Reading extends Begun, Value>(
  { points, perEvent }: { readonly points: readonly Point<Reading>[]; readonly perEvent?: EventPoint<Reading> },
  index: number,
  views: readonly AgentView[],
  { takenMs, endTime }: Moment,
  delta: boolean,
  valueOf: (current: Reading, previous: Reading | undefined) => Value,
): DataPoint<Value>[] {
  const dataPoints: DataPoint<Value>[] = [];
  for (const view of views) {
    const { agent, series } = view;
    const previous = delta ? view.previous : undefined;
    for (let p = 0; p < points.length; p++) {
      const point = points[p]!;
      const current = point.read(agent, takenMs);
      if (current === undefined) continue;
      const value = valueOf(current, previous && point.read(previous, takenMs));
      const startTime = delta ? view.deltaStartTime : startOf(current, view);
      dataPoints.push({ startTime, endTime, attributes: series.points[index]![p]!, value });
    }
    if (perEvent === undefined) continue;
    for (let e = 0; e < agent.events.length; e++) {
      const event = agent.events[e]!;
      if (!perEvent.applies(event)) continue;
      const before = previous && eventLike(previous, e, event);
      const had = before !== undefined && perEvent.applies(before);
      const current = perEvent.read(event);
      const value = valueOf(current, had ? perEvent.read(before) : undefined);
      const startTime = delta ? view.deltaStartTime : startOf(current, view);
      dataPoints.push({ startTime, endTime, attributes: series.event(e, event).attributes, value });
    }
  }
  return dataPoints;
}

/** Returns explicit buckets without min and max, which a tally does not have. */
function histogramOf(
  current: Distribution,
  previous: Distribution | undefined,
  divisor: number,
  boundaries: number[],
): OtelHistogram & { readonly sum: number } {
  const { counts: now } = current; // a getter
  const before = previous?.counts;
  const grew = before?.every((count, i) => count <= now[i]!) === true;
  const counts = grew ? now.map((count, i) => count - before[i]!) : (now as number[]);
  let count = 0;
  for (const inBucket of counts) count += inBucket;
  const sum = grew ? increase(current.sum, previous!.sum) : current.sum;
  return { buckets: { boundaries, counts }, sum: toDouble(sum, divisor), count };
}

/** By bounds and divisor. All agents of a source have the same bounds, and so have its snapshots. */
const SCALED_BOUNDS = new WeakMap<readonly number[], Map<number, number[]>>();

export function scaledBounds(bounds: readonly number[], divisor: number): number[] {
  if (divisor === 1) return bounds as number[];
  const scaled = madeOnce(SCALED_BOUNDS, bounds, () => new Map<number, number[]>());
  return madeOnce(scaled, divisor, () => Object.freeze(bounds.map((bound) => bound / divisor)) as number[]);
}
