/** The protobuf exposition has the series of the text exposition, and what text cannot say. */
import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROTOBUF } from '../../../src/serve/exposition/forms.js';
import { Page } from '../../../src/serve/exposition/page.js';
import type { ExponentialTally } from '../../../src/ground/exponential.js';
import { familiesIn, type Histogram, nativeCounts, textOf } from '../../support/prometheus-families.js';
import { anyMetrics } from '../http/any-metrics.js';

const NO_LABELS: Attributes = {};

function exposed(...metrics: MetricData[]): ResourceMetrics {
  return { resource: resourceFromAttributes({}), scopeMetrics: [{ scope: { name: 'scope' }, metrics }] };
}

function counterOf(attributes: Attributes, startTime: DataPoint<number>['startTime'] = [0, 0]): MetricData {
  return {
    descriptor: { name: 'counter', description: '', unit: 'By', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    dataPoints: [{ startTime, endTime: [2, 0], attributes, value: 1 }],
  };
}

async function nativeOf(exponential?: ExponentialTally): Promise<Histogram> {
  const { zeroCount = 0, counts = [] } = exponential ?? {};
  const count = Array.from(counts).reduce((sum, one) => sum + one, zeroCount);
  const value = { buckets: { boundaries: [], counts: [count] }, sum: 0, count, exponential };
  const bytes = await new Page(PROTOBUF).page(
    exposed({
      descriptor: { name: 'histogram', description: '', unit: 's', valueType: ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: [{ startTime: [1_700_000_000, 123_456_789], endTime: [2, 0], attributes: NO_LABELS, value }],
    }),
  );
  return familiesIn(bytes)[1]!.metric![0]!.histogram!;
}

describe('the protobuf exposition', () => {
  it('has the series, types and help of the text', async () => {
    const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
    await fc.assert(
      fc.asyncProperty(anyMetrics, async (metrics) => {
        const lines = serializer.serialize(metrics).split('\n');
        const series = lines.filter((line) => line !== '' && !/^# (UNIT|no registered)/.test(line));
        expect(familiesIn(await new Page(PROTOBUF).page(metrics)).flatMap(textOf)).toEqual(series);
      }),
      { numRuns: 300 },
    );
  });

  it('has the start of counters and histograms', async () => {
    const [, counter] = familiesIn(await new Page(PROTOBUF).page(exposed(counterOf(NO_LABELS, [1_700_000_000, 5]))));
    expect(counter!.metric![0]!.counter).toEqual({ value: 1, createdTimestamp: { seconds: 1_700_000_000, nanos: 5 } });
    expect((await nativeOf()).createdTimestamp).toEqual({ seconds: 1_700_000_000, nanos: 123_456_789 });
  });

  it('names no unit: Prometheus refuses one that the name does not end in', async () => {
    const families = familiesIn(await new Page(PROTOBUF).page(exposed(counterOf(NO_LABELS))));
    expect(families.map(({ unit }) => unit)).toEqual([undefined, undefined]);
  });

  it('lets other work run between slow points', async () => {
    const slow: Attributes = {
      get slow() {
        const untilMs = performance.now() + 5;
        while (performance.now() < untilMs);
        return 'yes';
      },
    };
    let turns = 0;
    const others = setInterval(() => turns++, 1);
    await new Page(PROTOBUF).page(exposed(...Array.from({ length: 4 }, () => counterOf(slow))));
    clearInterval(others);
    expect(turns).toBeGreaterThanOrEqual(3);
  });
});

describe('a native histogram', () => {
  it('has every count in its bucket, one above the index of OpenTelemetry', async () => {
    const anyTally = fc.record({
      scale: fc.constant(4),
      zeroCount: fc.nat(),
      offset: fc.integer({ min: -700, max: 1100 }),
      counts: fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat(), fc.constant(2 ** 50))),
    });
    await fc.assert(
      fc.asyncProperty(anyTally, async (tally) => {
        const histogram = await nativeOf(tally);
        expect(histogram).toMatchObject({ schema: tally.scale, zeroCount: tally.zeroCount });
        const expected = tally.counts.map((count, i): [number, number] => [tally.offset + i + 1, count]);
        expect([...nativeCounts(histogram)]).toEqual(expected.filter(([, count]) => count > 0));
      }),
    );
  });

  it('skips longer runs of empty buckets, and fills up shorter ones', async () => {
    const { positiveSpan, positiveDelta } = await nativeOf({
      ...{ scale: 4, zeroCount: 0, offset: -3 },
      counts: [5, 0, 0, 7, 0, 0, 0, 1],
    });
    expect(positiveSpan).toEqual([
      { offset: -2, length: 4 },
      { offset: 3, length: 1 },
    ]);
    expect(positiveDelta).toEqual([5, -5, 0, 7, -6]);
  });

  it('is native without values too, by a span without buckets', async () => {
    const { schema, positiveSpan } = await nativeOf({ scale: 4, zeroCount: 0, offset: 0, counts: [] });
    expect({ schema, positiveSpan }).toEqual({ schema: 4, positiveSpan: [{ offset: 0, length: 0 }] });
  });

  it('is classic without exponential counts', async () => {
    const { schema, positiveSpan } = await nativeOf();
    expect({ schema, positiveSpan }).toEqual({ schema: undefined, positiveSpan: undefined });
  });
});

describe('pages of one reader', () => {
  it('have the series of the text, whatever is kept from the pages before', async () => {
    const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);
    const anyPages = fc.array(anyMetrics, { minLength: 2, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(anyPages, fc.boolean(), async (pages, frozen) => {
        const exposition = new Page(PROTOBUF);
        for (const metrics of [...pages, ...pages.toReversed()]) {
          if (frozen) for (const attributes of attributesIn(metrics)) Object.freeze(attributes);
          const lines = serializer.serialize(metrics).split('\n');
          const series = lines.filter((line) => line !== '' && !/^# (UNIT|no registered)/.test(line));
          expect(familiesIn(await exposition.page(metrics)).flatMap(textOf)).toEqual(series);
        }
      }),
      { numRuns: 100 },
    );
  });

  it.each([true, false])('have the bytes of a first page after any change (monotonic: %s)', async (isMonotonic) => {
    const exposition = new Page(PROTOBUF);
    const [a, b] = [Object.freeze({ agent: 'a' }), Object.freeze({ agent: 'b' })];
    const changing: Attributes = { agent: 'c' };
    type Given = readonly [attributes: Attributes, value: number, startTime?: HrTime];
    const check = async (...points: Given[]): Promise<void> => {
      const dataPoints = points.map(([attributes, value, startTime = [1, 2]]) => ({
        ...{ startTime, endTime: [9, 0] as HrTime, attributes, value },
      }));
      const page = exposed({ ...counterOf({}), isMonotonic, dataPoints } as MetricData);
      expect(Buffer.from(await exposition.page(page))).toEqual(Buffer.from(await new Page(PROTOBUF).page(page)));
    };
    await check([a, 1], [b, 2]);
    await check([a, 3], [b, 2 ** 60]);
    await check([a, NaN], [b, -Infinity]);
    await check([b, 5], [a, 6]);
    await check([a, 5], [b, 6]);
    await check([a, 3], [b, 4, [300, 2]]); // an agent that restarted
    await check([a, 3], [b, 5, [300, 200]]);
    await check([b, 6, [300, 200]], [a, 7]);
    await check([b, 8, [300, 200]]);
    await check([b, 8, [300, 200]], [changing, 1]);
    changing['agent'] = 'd, and more';
    await check([b, 9, [300, 200]], [changing, 1]);
    await check();
    await check([a, 10]);
  });

  it('have labels that changed', async () => {
    const exposition = new Page(PROTOBUF);
    const labelsOn = async (...attributes: Attributes[]): Promise<unknown> => {
      const page = exposed({
        ...counterOf({}),
        dataPoints: attributes.flatMap((one) => counterOf(one).dataPoints as DataPoint<number>[]),
      } as MetricData);
      return familiesIn(await exposition.page(page))[1]!.metric!.map(({ label }) => label?.[0]?.value);
    };
    const changing: Attributes = { agent: 'a' };
    const frozen = Object.freeze({ agent: 'b' });
    expect(await labelsOn(changing, frozen)).toEqual(['a', 'b']);
    changing['agent'] = 'c';
    expect(await labelsOn(frozen, changing)).toEqual(['b', 'c']);
  });
});

it('numbers of all sizes keep their values', async () => {
  const anyCount = fc.oneof(
    fc.nat(),
    fc.maxSafeNat(),
    fc.constantFrom(127, 128, 2 ** 31, 2 ** 32, 2 ** 35, 2 ** 53 - 1),
  );
  await fc.assert(
    fc.asyncProperty(anyCount, fc.double(), async (count, sum) => {
      const value = { buckets: { boundaries: [1, sum], counts: [count, 0, 0] }, sum, count };
      const { descriptor, aggregationTemporality } = counterOf({});
      const point = {
        startTime: [1, 2] as [number, number],
        endTime: [2, 0] as [number, number],
        attributes: {},
        value,
      };
      const metric: MetricData = {
        ...{ descriptor, aggregationTemporality },
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: [point],
      };
      const { sampleCount, sampleSum, bucket } = familiesIn(await new Page(PROTOBUF).page(exposed(metric)))[1]!
        .metric![0]!.histogram!;
      const buckets = [1, sum].map((upperBound) => ({ cumulativeCount: count, upperBound }));
      // A given number of -0 is 0: as in the text, and -0 means that there is none.
      expect({ sampleCount, sampleSum, bucket }).toEqual({ sampleCount: count, sampleSum: sum + 0, bucket: buckets });
    }),
  );
});

function attributesIn({ scopeMetrics }: ResourceMetrics): Attributes[] {
  const points = scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .flatMap(({ dataPoints }) => dataPoints as DataPoint<unknown>[]);
  return points.map(({ attributes }) => attributes);
}
