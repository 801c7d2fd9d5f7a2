/** Room 2, meaning: names, units and attributes of events. Pure: no I/O, no clock, no OpenTelemetry. */
export type { Exact } from '../exact.js';
export * from '../tally.js';
export { utilization } from './agent-metrics.js';
export * from './allowlist.js';
export * from './attribute-values.js';
export * from './attributes.js';
export { DEFAULT_BUILDERS, type MetricsOptions, metricsOf, TALLY_BUILDERS, type TallyBuilderName } from './builders.js';
export * from './categories.js';
export {
  CUSTOM_METRIC_KINDS,
  type CustomError,
  type CustomEvent,
  type CustomMetric,
  type CustomMetricKind,
  errorKeys,
  errorName,
  errorSum,
  isCustomError,
} from './custom-events.js';
export * from './event-keys.js';
export { type EventMetricRefs, type EventRow, EVENTS, type MetricRef } from './events.js';
export * from './metric.js';
export * from './naming.js';
export * from './releases.js';
export * from './tally-options.js';
