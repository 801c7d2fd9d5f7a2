/**
 * Access to the readers of an SDK's MeterProvider. The SDK has no public access after construction. The fields used here are
 * plain ones, the same in sdk-metrics 1.30, 2.0, 2.12 and 3.1. The service may have another copy of the SDK, so classes
 * cannot be compared.
 */
import type { AggregationTemporality, InstrumentType, MetricProducer } from '@opentelemetry/sdk-metrics';
import { attempt } from '../../ground/errors.js';

/** A MetricReader of any copy and version of the SDK. */
export interface SdkReader {
  /** Several readers may share this array of the service. Replace it, but never change it. */
  _metricProducers: readonly MetricProducer[];
  readonly _shutdown?: unknown;
  selectAggregationTemporality(instrumentType: InstrumentType): AggregationTemporality;
  selectAggregation?(instrumentType: InstrumentType): unknown;
}

/** Returns undefined if the provider or one of its readers has another shape: a no-op, or not of the SDK. */
export function readersOf(provider: unknown): SdkReader[] | undefined {
  const collectors = field(field(provider, '_sharedState'), 'metricCollectors');
  if (!Array.isArray(collectors)) return undefined;
  const readers = collectors.map((collector) => field(collector, '_metricReader'));
  return readers.every(isReader) ? readers : undefined;
}

/** Returns true if a reader of this provider is not shut down. */
export function hasReaders(provider: unknown): boolean {
  return readersOf(provider)?.some((reader) => !isShutDown(reader)) === true;
}

/** Returns true if the provider may get readers: providers of 1.x take readers after construction. */
export function mayGetReaders(provider: unknown): boolean {
  return readersOf(provider) !== undefined && field(provider, '_shutdown') !== true;
}

/** Returns true after the reader's last collect: a provider is shut down earlier, before its readers have flushed. */
export function isShutDown({ _shutdown }: SdkReader): boolean {
  return _shutdown === true;
}

/** A PrometheusExporter of any version has this method for HTTP servers of a service. */
export function isPrometheusExporter(reader: unknown): boolean {
  return typeof field(reader, 'getMetricsRequestHandler') === 'function';
}

/**
 * Returns true if the reader has an OTLP metric exporter of any protocol: no other exporter has both a delegate that sends
 * and a field for its selector of aggregations. A wrapper around such an exporter is not recognised.
 */
export function exportsByOtlp(reader: unknown): boolean {
  const exporter = field(reader, '_exporter');
  return (
    typeof field(exporter, '_aggregationSelector') === 'function' &&
    typeof field(field(exporter, '_delegate'), 'export') === 'function'
  );
}

export function addProducer(reader: SdkReader, producer: MetricProducer): void {
  if (!reader._metricProducers.includes(producer)) reader._metricProducers = [...reader._metricProducers, producer];
}

export function removeProducer(reader: SdkReader, producer: MetricProducer): void {
  if (!reader._metricProducers.includes(producer)) return;
  reader._metricProducers = reader._metricProducers.filter((other) => other !== producer);
}

function isReader(value: unknown): value is SdkReader {
  if (typeof value !== 'object' || value === null) return false;
  const own = Object.getOwnPropertyDescriptor(value, '_metricProducers');
  return (
    own?.writable === true &&
    Array.isArray(own.value) &&
    typeof field(value, 'selectAggregationTemporality') === 'function'
  );
}

/** Returns undefined also when reading throws: other providers may be proxies that guard private fields. */
function field(value: unknown, name: string): unknown {
  return attempt(() => (typeof value === 'object' ? (value as Record<string, unknown> | null)?.[name] : undefined));
}
