/**
 * The readers of an SDK's MeterProvider. There is no public way to them after construction; the fields used here are plain
 * ones, the same in sdk-metrics 1.30, 2.0, 2.12 and 3.1. Types of the SDK are of no use here: the service may have another copy.
 */
import type { AggregationTemporality, InstrumentType, MetricProducer } from '@opentelemetry/sdk-metrics';

/** A MetricReader of any copy and version of the SDK. */
export interface SdkReader {
  /** May be the array that the service gave to several readers: replaced as a whole, never changed. */
  _metricProducers: readonly MetricProducer[];
  readonly _shutdown?: unknown;
  selectAggregationTemporality(instrumentType: InstrumentType): AggregationTemporality;
  selectAggregation?(instrumentType: InstrumentType): unknown;
}

/** Undefined when the provider, or one of its readers, has not the expected shape: a no-op, or of another make. */
export function readersOf(provider: unknown): SdkReader[] | undefined {
  const collectors = field(field(provider, '_sharedState'), 'metricCollectors');
  if (!Array.isArray(collectors)) return undefined;
  const readers = collectors.map((collector) => field(collector, '_metricReader'));
  return readers.every(isReader) ? readers : undefined;
}

/** True when a reader of this provider is not shut down. */
export function hasReaders(provider: unknown): boolean {
  return readersOf(provider)?.some((reader) => !isShutDown(reader)) === true;
}

/** Providers of 1.x take readers after construction. */
export function mayGetReaders(provider: unknown): boolean {
  return readersOf(provider) !== undefined && field(provider, '_shutdown') !== true;
}

/** Only then the reader has had its last collect: a provider is shut down before its readers have flushed. */
export function isShutDown({ _shutdown }: SdkReader): boolean {
  return _shutdown === true;
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

/** Also undefined when reading it throws: objects of other makes may be proxies that guard what is private. */
function field(value: unknown, name: string): unknown {
  try {
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}
