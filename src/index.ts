/** The public API of opentelemetry-instrumentation-nixl. */

// OpenTelemetry: the instrumentation for services with a MeterProvider, the producer for whoever builds the reader.
export {
  type AgentEvent,
  type BuilderName,
  ComprehensiveBuilder,
  type EventGain,
  type EventRecord,
  type MetricBuilder,
  MetricProcessor,
  type MetricProcessorOptions,
  NixlInstrumentation,
  type NixlInstrumentationConfig,
  NixlMetricProducer,
  type NixlMetricProducerOptions,
  type NixlOptions,
  type SharedProducerOptions,
  type Temporality,
  type TemporalitySelector,
} from './instrumentation/index.js';

// Meaning: NIXL's events and what they are called in metrics.
export {
  type AttributeSource,
  type AttributeSpec,
  type AttributeType,
  type AttributeValue,
  CATEGORIES,
  Category,
  type CategoryNumber,
  categoryName,
  DURATION_BOUNDS_US,
  type CustomEvent,
  type EventKind,
  type EventRow,
  EVENTS,
  gpuIdentifier,
  type Metric,
  metricsOf,
  type Naming,
  SIZE_BOUNDS,
  tallyOptions,
  THROUGHPUT_BOUNDS,
} from './mapping/index.js';

// Bytes: rings, sources, snapshots, without any OpenTelemetry.
export * from './shm-bridge/index.js';

export { NixlTelemetryError, type NixlTelemetryErrorCode } from './errors.js';
