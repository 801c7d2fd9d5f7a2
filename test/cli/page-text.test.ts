/** The page beside the one that OpenTelemetry's own serialiser writes of the same metrics. */
import { type Attributes, ValueType } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
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
import { describe, expect, it } from 'vitest';
import { PageText } from '../../src/cli/serve/page-text.js';

const anyText = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('"', '\\', '\n', '_', '.', 'é', '0', 'le') }));
const anyValue = fc.oneof(
  fc.double(),
  fc.maxSafeNat(),
  fc.constantFrom(0, -0, 999_999_999, 1e9, 2 ** 53, 1e21, NaN, Infinity, -Infinity),
);
const anyAttributes: fc.Arbitrary<Attributes> = fc.dictionary(
  anyText,
  fc.oneof(anyText, fc.integer(), fc.boolean(), fc.array(fc.string())),
  { maxKeys: 3, noNullPrototype: true },
);

function pointOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<DataPoint<T>> {
  return fc.record({ startTime: fc.constant([0, 0]), endTime: fc.constant([1, 0]), attributes: anyAttributes, value });
}

const anyHistogram: fc.Arbitrary<Histogram> = fc
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
    dataPoints: fc.array(pointOf(anyValue), { maxLength: 3 }),
  }),
  fc.record({
    descriptor: anyDescriptor,
    aggregationTemporality,
    dataPointType: fc.constant(DataPointType.GAUGE as const),
    dataPoints: fc.array(pointOf(anyValue), { maxLength: 3 }),
  }),
  fc.record({
    descriptor: anyDescriptor,
    aggregationTemporality,
    dataPointType: fc.constant(DataPointType.HISTOGRAM as const),
    dataPoints: fc.array(pointOf(anyHistogram), { maxLength: 3 }),
  }),
);
const anyMetrics: fc.Arbitrary<ResourceMetrics> = fc
  .record({ resource: anyAttributes, scopes: fc.array(fc.array(anyMetric, { maxLength: 3 }), { maxLength: 2 }) })
  .map(({ resource, scopes }) => ({
    resource: resourceFromAttributes(resource),
    scopeMetrics: scopes.map((metrics, i) => ({ scope: { name: `scope ${i}` }, metrics })),
  }));

describe('PageText', () => {
  it("writes what OpenTelemetry's serialiser writes, also the second time", () => {
    const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
    const page = new PageText();
    fc.assert(
      fc.property(anyMetrics, (metrics) => {
        const expected = serializer.serialize(metrics).replace(/registered metrics$/, '$&\n');
        for (let scrape = 0; scrape < 2; scrape++) {
          expect(Buffer.from(page.write(metrics)).toString('utf8')).toBe(expected);
        }
      }),
      { numRuns: 300 },
    );
  });
});
