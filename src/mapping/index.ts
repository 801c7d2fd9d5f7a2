/** Room 2, meaning: names, units and attributes of events. Pure: no I/O, no clock, no OpenTelemetry. */
export type { Exact } from '../exact.js';
export {
  type AgentSnapshot,
  Category,
  type CategoryNumber,
  type EventTally,
  type HistogramTally,
  type TallyOptions,
  type TransferTally,
} from '../tally.js';
export { utilization } from './agent-metrics.js';
export { type Allowlist, allowlist, EVERYTHING, globPattern } from './allowlist.js';
export {
  ATTRIBUTE_TYPES,
  type AttributeType,
  type AttributeValue,
  convert,
  gpuIdentifier,
  gpuSlug,
  slug,
} from './attribute-values.js';
export {
  AttributeRegistry,
  type AttributeSource,
  type AttributeSpec,
  type AttributeSubject,
  PLAIN_SOURCES,
  type PlainSource,
  type ProcessFacts,
} from './attributes.js';
export { DEFAULT_BUILDERS, type MetricsOptions, metricsOf, TALLY_BUILDERS, type TallyBuilderName } from './builders.js';
export {
  BAD_CATEGORY,
  CATEGORIES,
  CATEGORY_TERMS,
  categoryName,
  type CategoryRow,
  type CategoryTerm,
  type EventKind,
} from './categories.js';
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
export {
  eventKind,
  type EventLabels,
  eventLabels,
  eventLike,
  eventName,
  eventOfType,
  OVERFLOW_LABELS,
  sameEvent,
} from './event-keys.js';
export { type EventMetricRefs, type EventRow, EVENTS, type MetricRef } from './events.js';
export {
  type Distribution,
  type EventPoint,
  type HistogramMetric,
  isTotal,
  type Metric,
  type NumberMetric,
  type Point,
  toDouble,
} from './metric.js';
export {
  agentAttributes,
  type AgentIdentity,
  ambiguousNames,
  type Attributes,
  hostAttributes,
  type LabelKey,
  type Labels,
  type Naming,
  NAMINGS,
  prometheusSpelling,
  takenAttributeName,
  withLabels,
} from './naming.js';
export {
  DEFAULT_NIXL_LABELS,
  DEFAULT_NIXL_RELEASE,
  hasErrors,
  NIXL_LABELS,
  NIXL_RELEASES,
  nixlLabelRegistry,
  type NixlLabels,
  type NixlRelease,
  RELEASES,
  takenNixlLabel,
} from './releases.js';
export * from './semconv.js';
export {
  type Bounds,
  DEFAULT_BOUNDS,
  DURATION_BOUNDS_US,
  HISTOGRAM_EVENTS,
  SIZE_BOUNDS,
  tallyOptions,
  type TallyTableOptions,
  THROUGHPUT_BOUNDS,
} from './tally-options.js';
