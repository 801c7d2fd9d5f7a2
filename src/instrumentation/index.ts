/** Room 3, OpenTelemetry. */
export type {
  NixlInstrumentationConfig,
  NixlMetricProducerOptions,
  NixlOptions,
  Temporality,
  TemporalitySelector,
} from '../settings/options.js';
export { ComprehensiveBuilder } from './builders/comprehensive-builder.js';
export type { AgentEvent, BuilderName, EventGain, EventRecord, MetricBuilder } from '../settings/metric-builder.js';
export { MetricProcessor, type MetricProcessorOptions } from './builders/metric-processor.js';
export { NixlInstrumentation, type SharedProducerOptions } from './instrumentation.js';
export { NixlMetricProducer } from './metric-producer.js';
export { PACKAGE_NAME, PACKAGE_VERSION } from './version.js';
