/** Histograms of the producers that the instrumentation adds: each reader gets the kind that it selects. */
import { OTLPMetricExporter as GrpcExporter } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import {
  type AggregationOption,
  AggregationTemporality,
  AggregationType,
  ConsoleMetricExporter,
  type DataPoint,
  DataPointType,
  type ExponentialHistogram,
  InstrumentType,
  type IMetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { instrumentation, log, opener } from './harness.js';
import { agentSnapshot } from './in-memory-source.js';
import { ManualReader, providerWith } from './readers.js';

const NAME = 'agent_xfer_time_us';
const VARIABLE = 'OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION';
const EXPONENTIAL = { type: AggregationType.EXPONENTIAL_HISTOGRAM } as const;

beforeEach(() => {
  opener.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [3n, 3n, 100n] })];
});

function selecting(histograms: unknown, temporality?: AggregationTemporality): ManualReader {
  const reader = new ManualReader(temporality);
  reader.selectAggregation = (type) =>
    (type === InstrumentType.HISTOGRAM ? histograms : { type: AggregationType.DEFAULT }) as AggregationOption;
  return reader;
}

async function histogramOf(reader: IMetricReader) {
  const { resourceMetrics } = await reader.collect();
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  return metrics.find(({ descriptor }) => descriptor.name === NAME)!;
}

async function typeOf(reader: IMetricReader): Promise<DataPointType> {
  return (await histogramOf(reader)).dataPointType;
}

async function valueOf(reader: ManualReader): Promise<ExponentialHistogram> {
  const [point] = (await reader.points(NAME)) as DataPoint<ExponentialHistogram>[];
  return point!.value;
}

describe("a reader's selector of aggregations", () => {
  it('decides for that reader, in its temporality', async () => {
    const [explicit, cumulative] = [new ManualReader(), selecting(EXPONENTIAL)];
    const delta = selecting(EXPONENTIAL, AggregationTemporality.DELTA);
    instrumentation().setMeterProvider(providerWith(explicit, cumulative, delta));
    expect(await typeOf(explicit)).toBe(DataPointType.HISTOGRAM);
    expect(await valueOf(cumulative)).toMatchObject({ count: 3, sum: 106, min: 3 });
    expect(await valueOf(delta)).toMatchObject({ count: 3, sum: 106 });
    opener.last.agents = [agentSnapshot({ id: 1, agent: 'a' }, { 6: [3n, 3n, 100n, 7n] })];
    expect(await valueOf(cumulative)).toMatchObject({ count: 4, sum: 113 });
    expect(await valueOf(delta)).toMatchObject({ count: 1, sum: 7, min: 7, max: 7 });
    expect(log).toEqual([]);
  });

  it('has the number of buckets, in the form of sdk-metrics 2 and 3 and in that of 1.x', async () => {
    class ExponentialHistogramAggregation {
      readonly _maxSize = 2;
      readonly _recordMinMax = false;
    }
    const readers = [
      selecting({ ...EXPONENTIAL, options: { maxSize: 2, recordMinMax: false } }),
      selecting(new ExponentialHistogramAggregation()),
    ];
    instrumentation().setMeterProvider(providerWith(...readers));
    for (const reader of readers) {
      const { positive, min } = await valueOf(reader);
      expect(positive.bucketCounts).toEqual([2, 1]);
      expect(min).toBeUndefined();
    }
  });

  it('that fails costs no metric', async () => {
    const reader = new ManualReader();
    instrumentation().setMeterProvider(providerWith(reader));
    reader.selectAggregation = () => {
      throw new Error('no idea');
    };
    expect(await typeOf(reader)).toBe(DataPointType.HISTOGRAM);
    expect(log.map(({ message }) => message)).toEqual(["the reader's choice of aggregations failed: no idea"]);
  });
});

it('a PrometheusExporter keeps explicit buckets, whatever it selects: it cannot print others', async () => {
  const reader = new PrometheusExporter({ preventServerStart: true });
  vi.spyOn(reader, 'selectAggregation').mockReturnValue(EXPONENTIAL);
  instrumentation().setMeterProvider(providerWith(reader));
  expect(await typeOf(reader)).toBe(DataPointType.HISTOGRAM);
  expect(log.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/selects exponential histogram for each histogram/),
  );
});

describe(VARIABLE, () => {
  function periodic(exporter: PushMetricExporter): PeriodicExportingMetricReader {
    exporter.export = (_, done) => done({ code: 0 });
    const reader = new PeriodicExportingMetricReader({ exporter });
    onTestFinished(() => reader.shutdown());
    return reader;
  }

  async function typesOf(...readers: IMetricReader[]): Promise<DataPointType[]> {
    instrumentation().setMeterProvider(providerWith(...readers));
    const types: DataPointType[] = [];
    for (const reader of readers) types.push(await typeOf(reader));
    await Promise.all(readers.map((reader) => reader.shutdown()));
    return types;
  }

  it.each([
    ['http/json', () => new JsonExporter()],
    ['http/protobuf', () => new ProtobufExporter()],
    ['grpc', () => new GrpcExporter()],
  ])('is honoured for the OTLP exporter of %s', async (_, exporter) => {
    vi.stubEnv(VARIABLE, 'BASE2_exponential_bucket_histogram');
    expect(await typesOf(periodic(exporter()))).toEqual([DataPointType.EXPONENTIAL_HISTOGRAM]);
    vi.stubEnv(VARIABLE, 'explicit_bucket_histogram');
    expect(await typesOf(periodic(exporter()))).toEqual([DataPointType.HISTOGRAM]);
    expect(log).toEqual([]);
  });

  it('counts for no other exporter, and not for one that selects for itself', async () => {
    vi.stubEnv(VARIABLE, 'base2_exponential_bucket_histogram');
    const explicit = { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM } as const;
    const readers = [
      periodic(new ConsoleMetricExporter()),
      periodic({ export: () => {}, forceFlush: async () => {}, shutdown: async () => {} }),
      periodic(new ProtobufExporter({ aggregationPreference: () => explicit })),
      new ManualReader(),
      new PrometheusExporter({ preventServerStart: true }),
    ];
    expect(await typesOf(...readers)).toEqual(readers.map(() => DataPointType.HISTOGRAM));
  });

  it('with an unknown value is reported once, and counts as not set', async () => {
    vi.stubEnv(VARIABLE, 'summary');
    expect(await typesOf(periodic(new ProtobufExporter()), new ManualReader())).toEqual([
      DataPointType.HISTOGRAM,
      DataPointType.HISTOGRAM,
    ]);
    expect(log).toEqual([
      {
        level: 'warn',
        message: `${VARIABLE} is "summary"; allowed: explicit_bucket_histogram, base2_exponential_bucket_histogram; histograms keep explicit buckets`,
      },
    ]);
  });
});
