/** Private MeterProvider of builders: the only module of the library that loads the SDK. */
import type { Meter } from '@opentelemetry/api';
import { type AggregationOption, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../../ground/package.js';
import type { AggregationTemporality, InstrumentType } from '../sdk-enums.js';

/** Selectors of the reader that a producer reports to. */
export interface Selectors {
  readonly temporality: (type: InstrumentType) => AggregationTemporality;
  readonly aggregation: (type: InstrumentType) => AggregationOption;
}

/** Collects when its producer is collected. */
class ProducerReader extends MetricReader {
  constructor({ temporality, aggregation }: Selectors) {
    super({ aggregationTemporalitySelector: temporality, aggregationSelector: aggregation });
  }
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export function builderProvider(producers: ReadonlyMap<object, Selectors>): {
  readonly meter: Meter;
  readonly readers: ReadonlyMap<object, MetricReader>;
} {
  const readers = new Map([...producers].map(([producer, selectors]) => [producer, new ProducerReader(selectors)]));
  const provider = new MeterProvider({ readers: [...readers.values()] });
  return { meter: provider.getMeter(`${PACKAGE_NAME}/builders`, PACKAGE_VERSION), readers };
}
