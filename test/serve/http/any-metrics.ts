/** Any metrics that OpenTelemetry's serialiser takes, many of them with names and values that need care. */
import { type Attributes, ValueType } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { familyOf, promName } from '../../../src/serve/exposition/spelling.js';

const anyText = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', '\\', '\n', '_', '.', 'é', '0', 'le') }));
export const anyValue = fc.oneof(
  fc.double(),
  fc.maxSafeNat(),
  fc.constantFrom(0, -0, 999_999_999, 1e9, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, 1e21, NaN, Infinity, -Infinity),
);
/** The serialiser writes a page that Prometheus drops if names are spelled alike, empty or begin with a digit. */
const anyAttributes: fc.Arbitrary<Attributes> = fc
  .dictionary(anyText, fc.oneof(anyText, fc.integer(), fc.boolean(), fc.array(fc.string())), {
    maxKeys: 3,
    noNullPrototype: true,
  })
  .map((any) => {
    const bySpelling = new Map(Object.entries(any).map((one) => [promName(one[0]), one]));
    return Object.fromEntries([...bySpelling].filter(([name]) => /^[^0-9]/.test(name)).map(([, one]) => one));
  });

function pointOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<DataPoint<T>> {
  return fc.record({ startTime: fc.constant([0, 0]), endTime: fc.constant([1, 0]), attributes: anyAttributes, value });
}

export const anyHistogram: fc.Arbitrary<Histogram> = fc
  .record({
    finite: fc.uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 4 }),
    infinite: fc.boolean(),
    sum: fc.option(anyValue, { nil: undefined }),
    counts: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
  })
  .map(({ finite, infinite, sum, counts: any }) => {
    const boundaries = [...finite.sort((a, b) => a - b), ...(infinite ? [Infinity] : [])];
    const counts = any.slice(0, boundaries.length + 1);
    const count = counts.reduce((a, b) => a + b, 0);
    return { buckets: { boundaries, counts }, count, ...(sum === undefined ? {} : { sum }) };
  });

/** Up to three kinds, each some hundred times: more than one slice writes. */
function manyOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc
    .tuple(fc.array(value, { maxLength: 3 }), fc.constantFrom(1, 50, 100))
    .map(([values, times]) => values.flatMap((one) => new Array<T>(times).fill(one)));
}

const anyDescriptor = fc.record({
  name: anyText,
  description: anyText,
  unit: fc.oneof(fc.constant(''), anyText),
  valueType: fc.constant(ValueType.DOUBLE),
});
const aggregationTemporality = fc.constant(AggregationTemporality.CUMULATIVE);
const anyMetric: fc.Arbitrary<MetricData> = fc.oneof(
  fc.record({
    descriptor: anyDescriptor,
    aggregationTemporality,
    dataPointType: fc.constant(DataPointType.SUM as const),
    isMonotonic: fc.boolean(),
    dataPoints: manyOf(pointOf(anyValue)),
  }),
  fc.record({
    descriptor: anyDescriptor,
    aggregationTemporality,
    dataPointType: fc.constant(DataPointType.GAUGE as const),
    dataPoints: manyOf(pointOf(anyValue)),
  }),
  fc.record({
    descriptor: anyDescriptor,
    aggregationTemporality,
    dataPointType: fc.constant(DataPointType.HISTOGRAM as const),
    dataPoints: manyOf(pointOf(anyHistogram)),
  }),
);
/** No two families have the same name: releases of the serialiser differ in what they make of these. */
export const anyMetrics: fc.Arbitrary<ResourceMetrics> = fc
  .record({ resource: anyAttributes, scopes: fc.array(fc.array(anyMetric, { maxLength: 3 }), { maxLength: 2 }) })
  .map(({ resource, scopes }) => {
    const names = new Set(['target_info']);
    const isNew = (metric: MetricData): boolean => {
      const name = familyOf(metric)?.name ?? '';
      return name === '' || (!names.has(name) && names.add(name) === names);
    };
    return {
      resource: resourceFromAttributes(resource),
      scopeMetrics: scopes.map((metrics, i) => ({ scope: { name: `scope ${i}` }, metrics: metrics.filter(isNew) })),
    };
  });

export function gaugeOf(name: string, points: readonly Pick<DataPoint<number>, 'attributes' | 'value'>[]): MetricData {
  return {
    descriptor: { name, description: '', unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.GAUGE,
    dataPoints: points.map((point) => ({ ...point, startTime: [0, 0], endTime: [1, 0] })),
  };
}

export function histogramWith(name: string, attributes: Attributes, value: Histogram): MetricData {
  const { descriptor, aggregationTemporality } = gaugeOf(name, []);
  const dataPoints: DataPoint<Histogram>[] = [{ attributes, value, startTime: [0, 0], endTime: [1, 0] }];
  return { descriptor, aggregationTemporality, dataPointType: DataPointType.HISTOGRAM, dataPoints };
}

export function metricsWith(...metrics: MetricData[]): ResourceMetrics {
  return { resource: resourceFromAttributes({}), scopeMetrics: [{ scope: { name: 'scope' }, metrics }] };
}
