/** Public API of opentelemetry-instrumentation-nixl. test/api-report.txt has all signatures. */
export { NixlTelemetryError, type NixlTelemetryErrorCode } from './errors.js';
export type { AgentEvent, EventGain, EventRecord, MetricBuilder } from './instrumentation/builders/metric-builder.js';
export {
  type BuilderName,
  MetricProcessor,
  type MetricProcessorOptions,
} from './instrumentation/builders/metric-processor.js';
export { NixlInstrumentation, type SharedProducerOptions } from './instrumentation/instrumentation.js';
export { NixlMetricProducer } from './instrumentation/producer/metric-producer.js';
export type {
  Attributes,
  AttributeSource,
  AttributeSpec,
  AttributeType,
  AttributeValue,
  CategoryWord,
  CustomError,
  CustomEvent,
  CustomMetric,
  CustomMetricKind,
  Naming,
  NixlLabels,
  NixlRelease,
  PlainSource,
} from './mapping/index.js';
export * from './mapping/semconv.js';
export type {
  NixlInstrumentationConfig,
  NixlMetricProducerOptions,
  NixlOptions,
  Temporality,
  TemporalitySelector,
} from './settings/options.js';
