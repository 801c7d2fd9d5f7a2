/** Public API of opentelemetry-instrumentation-nixl. test/api-report.txt has all signatures. */
export type { ConfiguredEngine } from './engines/engine-identity.js';
export type { ExponentialTally } from './ground/exponential.js';
export { NixlTelemetryError, type NixlTelemetryErrorCode } from './ground/errors.js';
export { MetricProcessor, type MetricProcessorOptions } from './instrumentation/builders/metric-processor.js';
export { NixlInstrumentation } from './instrumentation/instrumentation.js';
export { NixlMetricProducer } from './instrumentation/producer/metric-producer.js';
export type {
  Attributes,
  AttributeSet,
  AttributeSource,
  AttributeSpec,
  AttributeType,
  AttributeValue,
  CategoryTerm,
  CustomError,
  CustomEvent,
  CustomMetric,
  CustomMetricKind,
  Naming,
  NixlLabels,
  NixlRelease,
  PlainSource,
  SeriesPreset,
} from './mapping/index.js';
export * from './mapping/semconv.js';
export type { SlowFinding, SlowListener } from './instrumentation/sizes/slow-listeners.js';
export type { SlowKind } from './view/slowness/slow-facts.js';
export type { AgentEvent, BuilderName, EventGain, EventRecord, MetricBuilder } from './settings/metric-builder.js';
export type { HistogramKind } from './settings/histograms.js';
export type {
  AggregationSelector,
  Histograms,
  NixlInstrumentationConfig,
  NixlMetricProducerOptions,
  NixlOptions,
  Temporality,
  TemporalitySelector,
} from './settings/options.js';
export type { SharedProducerOptions } from './settings/settings.js';
export type { AgentSizes, DirectionSizes, JsonBound, JsonClass, RecentClass } from './view/sizes/direction-sizes.js';
export type { FittedLine } from './view/sizes/fitted-line.js';
export type { Posting } from './view/sizes/size-figures.js';
export type { NoLineReason, TimeLine, TimeModel } from './view/sizes/time-line.js';
