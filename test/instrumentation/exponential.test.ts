/** Exponential data points, compared with those that the SDK makes of the same values. */
import {
  AggregationTemporality,
  AggregationType,
  type AggregationOption,
  DataPointType,
  type DataPoint,
  type ExponentialHistogram,
  InstrumentType,
  MeterProvider,
} from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { atScale, TALLY_SCALE } from '../../src/ground/exponential.js';
import { DEFAULT_FORM, exponentialHistogramOf } from '../../src/instrumentation/producer/exponential.js';
import { hrTimeOf } from '../../src/instrumentation/producer/metric-data.js';
import type { Distribution } from '../../src/mapping/index.js';
import { exponentialTally } from '../support/exponential.js';
import { agentSnapshot, histogramOf, InMemorySource, START_MS } from './in-memory-source.js';
import { ManualReader, metricIn, metricsIn, pointsIn, producerOn } from './readers.js';

function distributionOf(values: readonly number[]): Distribution {
  return { ...histogramOf([10], values), sum: values.reduce((sum, value) => sum + BigInt(value), 0n) };
}

/** Makes a data point of all values, or of those since `before`. */
function pointOf(
  values: readonly number[],
  { divisor = 1, maxSize = 160, before = undefined as number[] | undefined } = {},
) {
  const previous = before && distributionOf(before);
  return exponentialHistogramOf(distributionOf(values), previous, divisor, { ...DEFAULT_FORM, maxSize });
}

/** Records the values into a histogram of the SDK with this aggregation. */
async function ofTheSdk(values: readonly number[], maxSize: number): Promise<ExponentialHistogram> {
  const reader = new ManualReader();
  reader.selectAggregation = () => ({ type: AggregationType.EXPONENTIAL_HISTOGRAM, options: { maxSize } });
  const provider = new MeterProvider({ readers: [reader] });
  const histogram = provider.getMeter('test').createHistogram('values');
  for (const value of values) histogram.record(value);
  const [point] = (await reader.points('values')) as DataPoint<ExponentialHistogram>[];
  return point!.value;
}

/** Returns the SDK's buckets at a scale that a tally has: alone, the SDK begins at scale 20. */
function atScaleOfTally({ scale, zeroCount, positive }: ExponentialHistogram) {
  const tally = { scale, zeroCount, offset: positive.offset, counts: positive.bucketCounts };
  const { counts, offset, ...rest } = atScale(tally, TALLY_SCALE);
  return { ...rest, positive: { offset, bucketCounts: Array.from(counts) } };
}

const wholeNumbers = fc.array(fc.oneof(fc.nat(50), fc.nat(), fc.bigInt(1n, 2n ** 60n).map(Number)), { maxLength: 60 });

describe('an exponential data point', () => {
  it("has the buckets, the count and the sum of the SDK's own", async () => {
    const sizes = fc.oneof(fc.integer({ min: 2, max: 40 }), fc.constant(160));
    await fc.assert(
      fc.asyncProperty(wholeNumbers, sizes, async (values, maxSize) => {
        fc.pre(values.some((value) => value > 0));
        const { count, sum, scale, zeroCount, positive, negative } = pointOf(values, { maxSize });
        const sdk = await ofTheSdk(values, maxSize);
        expect({ scale, zeroCount, positive }).toEqual(atScaleOfTally(sdk));
        expect({ count, negative }).toEqual({ count: sdk.count, negative: sdk.negative });
        expect(Math.abs(sum! - sdk.sum!)).toBeLessThanOrEqual(sdk.sum! * 1e-12);
      }),
    );
  });

  it('has the lowest scale that 2 buckets of the smallest and the largest value need', () => {
    const { scale, positive } = pointOf([1, 2 ** 60], { maxSize: 2 });
    expect({ scale, positive }).toEqual({ scale: -6, positive: { offset: -1, bucketCounts: [1, 1] } });
  });

  it('has a minimum and a maximum within a bucket, and on either side of the mean', () => {
    fc.assert(
      fc.property(wholeNumbers, (values) => {
        fc.pre(values.length > 0);
        const { min, max, sum, count } = pointOf(values);
        const [lowest, highest] = [Math.min(...values), Math.max(...values)];
        expect(Math.abs(min! - lowest)).toBeLessThanOrEqual(lowest * 0.023);
        expect(Math.abs(max! - highest)).toBeLessThanOrEqual(highest * 0.023);
        expect(min).toBeLessThanOrEqual(sum! / count);
        expect(max).toBeGreaterThanOrEqual(sum! / count);
      }),
    );
  });

  it('of one value has it as its minimum and maximum', () => {
    expect(pointOf([1_000_003])).toMatchObject({ min: 1_000_003, max: 1_000_003 });
    expect(pointOf([7, 1_000_003], { before: [7], divisor: 1e6 })).toMatchObject({ min: 1.000003, max: 1.000003 });
  });

  it('of equal values does not lie beyond them by more than a bucket', () => {
    expect(pointOf([1000, 1000])).toMatchObject({ sum: 2000, min: 1000 });
    expect(pointOf([7, 7])).toMatchObject({ min: 7, max: 7 });
  });

  it('without values has neither buckets nor minimum and maximum', () => {
    const empty = { count: 0, sum: 0, zeroCount: 0, scale: TALLY_SCALE };
    const buckets = { offset: 0, bucketCounts: [] };
    for (const divisor of [1, 1e6]) {
      const point = pointOf([3], { before: [3], divisor });
      expect(point).toEqual({ ...empty, positive: buckets, negative: buckets });
    }
  });

  it('of zeros counts them as zeros', () => {
    expect(pointOf([0, 0])).toMatchObject({ count: 2, zeroCount: 2, min: 0, max: 0, positive: { bucketCounts: [] } });
  });

  it('in seconds has each value within 0.41 % of its bucket, and in any other unit within half a bucket', () => {
    const divisors = fc.constantFrom(
      [1e6, 1.0042] as const,
      [1000, 2 ** (1 / 32)] as const,
      [7, 2 ** (1 / 32)] as const,
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 40 }), divisors, (value, [divisor, tolerance]) => {
        const { scale, positive, sum } = pointOf([value], { divisor });
        const base = 2 ** (2 ** -scale);
        expect(sum).toBe(value / divisor);
        expect(base ** positive.offset).toBeLessThan((value / divisor) * tolerance);
        expect(base ** (positive.offset + 1)).toBeGreaterThan(value / divisor / tolerance);
      }),
    );
  });
});

describe('a delta', () => {
  it('has the values since the previous reading', () => {
    fc.assert(
      fc.property(wholeNumbers, wholeNumbers, (before, later) => {
        expect(pointOf([...before, ...later], { before })).toEqual(pointOf(later));
      }),
    );
    expect(pointOf([5, 5, 7], { before: [5] })).toMatchObject({ count: 2, sum: 12, min: 5, max: 7 });
  });

  it('has all values if a count fell, because a new tally began', () => {
    expect(pointOf([3, 9], { before: [3, 3] })).toEqual(pointOf([3, 9]));
    expect(pointOf([3, 9], { before: [0] })).toEqual(pointOf([3, 9]));
  });
});

describe('a producer', () => {
  const NAME = 'agent_xfer_time_us';
  const SELECTED: AggregationOption = {
    type: AggregationType.EXPONENTIAL_HISTOGRAM,
    options: { maxSize: 2, recordMinMax: false },
  };
  let source: InMemorySource;
  beforeEach(() => {
    source = new InMemorySource();
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [0n, 3n, 3n, 100n] })];
  });

  it('makes exponential histograms of all histograms, and of nothing else', async () => {
    const result = await producerOn(source, { histograms: 'exponential' }).collect();
    const explicit = await producerOn(source).collect();
    const asExponential = (type: DataPointType): DataPointType =>
      type === DataPointType.HISTOGRAM ? DataPointType.EXPONENTIAL_HISTOGRAM : type;
    expect(metricsIn(result).map(({ descriptor, dataPointType }) => [descriptor.name, dataPointType])).toEqual(
      metricsIn(explicit).map(({ descriptor, dataPointType }) => [descriptor.name, asExponential(dataPointType)]),
    );
    expect(pointsIn(result, NAME)).toMatchObject([
      {
        startTime: hrTimeOf(START_MS),
        attributes: { agent_name: 'a', hostname: 'h' },
        value: { count: 4, sum: 106, zeroCount: 1, min: 0, positive: { offset: exponentialTally([3]).offset } },
      },
    ]);
  });

  it('makes deltas of them, from the start of the agent and then from the previous collect', async () => {
    const producer = producerOn(source, { histograms: 'exponential', temporality: 'delta' });
    await producer.collect();
    const before = source.takenMs;
    source.takenMs += 5000;
    source.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [0n, 3n, 3n, 100n, 3n, 9n] })];
    const result = await producer.collect();
    expect(metricIn(result, NAME).aggregationTemporality).toBe(AggregationTemporality.DELTA);
    expect(pointsIn(result, NAME)).toMatchObject([
      { startTime: hrTimeOf(before), value: { count: 2, sum: 12, zeroCount: 0, min: 3, max: 9 } },
    ]);
    source.agents = [agentSnapshot({ id: 2, agent: 'a', startTimeMs: START_MS + 11_000 }, { 6: [3n] })];
    expect(pointsIn(await producer.collect(), NAME)).toMatchObject([
      { startTime: hrTimeOf(START_MS + 11_000), value: { count: 1, sum: 3 } },
    ]);
  });

  it('follows a selector of aggregations, with its number of buckets and without minimum and maximum', async () => {
    const asked: InstrumentType[] = [];
    const histograms = (type: InstrumentType): AggregationOption => {
      asked.push(type);
      return SELECTED;
    };
    const [point] = pointsIn(await producerOn(source, { histograms }).collect(), NAME);
    const { value } = point as DataPoint<ExponentialHistogram>;
    expect(value.positive.bucketCounts).toEqual([2, 1]);
    expect(value).not.toHaveProperty('min');
    expect(new Set(asked)).toEqual(new Set([InstrumentType.HISTOGRAM]));
    const explicit = producerOn(source, { histograms: () => ({ type: AggregationType.DEFAULT }) });
    expect(metricIn(await explicit.collect(), NAME).dataPointType).toBe(DataPointType.HISTOGRAM);
  });

  it('lets histograms of builders follow as well', async () => {
    for (const [histograms, type] of [
      ['exponential', DataPointType.EXPONENTIAL_HISTOGRAM],
      ['explicit', DataPointType.HISTOGRAM],
    ] as const) {
      const producer = producerOn(source, { histograms });
      producer.processor.addBuilder({
        name: 'own',
        create: (meter) => meter.createHistogram('own.histogram').record(5),
      });
      expect(metricIn(await producer.collect(), 'own.histogram').dataPointType).toBe(type);
    }
  });
});
