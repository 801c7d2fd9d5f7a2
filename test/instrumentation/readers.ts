/** Helpers for real readers. */
import { diag, type MeterProvider as ApiMeterProvider } from '@opentelemetry/api';
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  type CollectionResult,
  type DataPoint,
  type IMetricReader,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  MetricReader,
} from '@opentelemetry/sdk-metrics';
import { Inside } from '../../src/ground/inside.js';
import { AttributeRegistry, type AttributeSpec, EVERYTHING, PRESETS } from '../../src/mapping/index.js';
import type { NixlMetricProducerOptions } from '../../src/index.js';
import { BuilderMetrics } from '../../src/instrumentation/builders/builder-metrics.js';
import { NixlMetricProducer } from '../../src/instrumentation/producer/metric-producer.js';
import type { Profile } from '../../src/settings/settings.js';
import { feedOf, type InMemorySource } from './in-memory-source.js';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Reader that collects only when a test calls it. */
export class ManualReader extends MetricReader {
  constructor(temporality = AggregationTemporality.CUMULATIVE, metricProducers: MetricProducer[] = []) {
    super({ aggregationTemporalitySelector: () => temporality, metricProducers });
  }

  async metrics(): Promise<MetricData[]> {
    const { resourceMetrics, errors } = await this.collect();
    if (errors.length > 0) throw errors[0];
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  }

  /** Returns the points of one metric; none if the metric is missing. */
  async points(name: string): Promise<DataPoint<unknown>[]> {
    const metric = (await this.metrics()).find(({ descriptor }) => descriptor.name === name);
    return (metric?.dataPoints as DataPoint<unknown>[] | undefined) ?? [];
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

export function providerWith(...readers: IMetricReader[]): MeterProvider {
  return new MeterProvider({ readers });
}

/** Returns the provider as another vendor's object, without the fields of the SDK. */
export function ofAnotherMake(provider: ApiMeterProvider): ApiMeterProvider {
  return { getMeter: (name, version, options) => provider.getMeter(name, version, options) };
}

/** Returns the exposition of a real exporter with this producer. */
export async function scrape(producer: MetricProducer): Promise<string> {
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    withoutScopeInfo: true,
    withoutTargetInfo: true,
    metricProducers: [producer],
  });
  const provider = providerWith(exporter);
  const page = await new Promise<string>((resolve) => {
    const response = { statusCode: 0, setHeader: () => {}, end: resolve } as unknown as ServerResponse;
    exporter.getMetricsRequestHandler({} as IncomingMessage, response);
  });
  await provider.shutdown();
  return page;
}

/** Prints what this reader collects as a Prometheus page. */
export async function scrapeOf(reader: MetricReader): Promise<string> {
  const { resourceMetrics } = await reader.collect();
  return new PrometheusSerializer(undefined, false, undefined, true, true).serialize(resourceMetrics);
}

/** Returns the values by this attribute, for comparisons. */
export function valuesOf(points: readonly DataPoint<unknown>[], attribute: string): Record<string, unknown> {
  return Object.fromEntries(points.map(({ attributes, value }) => [String(attributes[attribute]), value]));
}

export function metricsIn({ resourceMetrics }: CollectionResult): MetricData[] {
  return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
}

export function pointsIn(result: CollectionResult, name: string): DataPoint<unknown>[] {
  const metric = metricsIn(result).find(({ descriptor }) => descriptor.name === name);
  return (metric?.dataPoints as DataPoint<unknown>[] | undefined) ?? [];
}

export function metricIn(result: CollectionResult, name: string): MetricData {
  return metricsIn(result).find(({ descriptor }) => descriptor.name === name)!;
}

/** Makes a producer on a shared feed, as the instrumentation does, with the series of preset full unless given. */
export function producerOn(
  source: InMemorySource,
  options: NixlMetricProducerOptions = {},
  attributes: readonly AttributeSpec[] = [],
): NixlMetricProducer {
  const profile: Profile = {
    naming: 'nixl',
    nixlRelease: options.nixlRelease ?? 'main',
    nixlLabels: options.nixlLabels ?? 'prometheus',
    hostname: 'h',
    events: EVERYTHING,
    attributes: new AttributeRegistry(attributes),
    rankVariable: 'LOCAL_RANK',
    customEvents: options.customEvents ?? [],
    builders: options.builders ?? [...PRESETS[options.series ?? 'full'].builders, 'records'],
    hasOwnMetrics: PRESETS[options.series ?? 'full'].hasOwnMetrics,
  };
  const builderMetrics = BuilderMetrics.of(profile, diag);
  return new NixlMetricProducer(options, new Inside({ ...profile, feed: feedOf(source), builderMetrics }));
}
