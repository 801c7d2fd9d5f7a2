/** Room 2, meaning: what events are called and measured in. Pure: no I/O, no clock, no OpenTelemetry. */
export { utilization } from './agent-metrics.js';
export { type Allowlist, allowlist, EVERYTHING, globPattern } from './allowlist.js';

export { ATTRIBUTE_TYPES, type AttributeType, type AttributeValue, convert, plainWord } from './attribute-values.js';
export {
  AttributeRegistry,
  type AttributeSource,
  type AttributeSpec,
  type AttributeSubject,
  PLAIN_SOURCES,
  type PlainSource,
  type ProcessFacts,
} from './attributes.js';
export { type Bounds, DEFAULT_BOUNDS, DURATION_BOUNDS_US, SIZE_BOUNDS, THROUGHPUT_BOUNDS } from './bounds.js';
export { DEFAULT_BUILDERS, type MetricsOptions, metricsOf, TALLY_BUILDERS, type TallyBuilderName } from './builders.js';
export {
  BAD_CATEGORY,
  CATEGORIES,
  Category,
  type CategoryNumber,
  type CategoryRow,
  categoryName,
  type EventKind,
} from './categories.js';
export {
  CATEGORY_WORDS,
  type CategoryWord,
  CUSTOM_METRIC_KINDS,
  type CustomEvent,
  type CustomMetric,
  type CustomMetricKind,
  isCustomError,
} from './custom-events.js';
export { type CustomError, errorKeys, errorName, errorSum } from './custom-errors.js';
export { eventName } from './event-name.js';
export { type EventMetricRefs, type EventRow, EVENTS, type MetricRef } from './events.js';
export { gpuIdentifier, gpuWord } from './gpu-identifier.js';
export { eventKind, type EventLabels, eventLabels, OVERFLOW_LABELS } from './key-metrics.js';
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
  NAMINGS,
  type Naming,
  prometheusSpelling,
  takenAttributeName,
  withLabels,
} from './naming.js';
export { DEFAULT_NIXL_LABELS, NIXL_LABELS, nixlLabelRegistry, type NixlLabels, takenNixlLabel } from './nixl-labels.js';
export { DEFAULT_NIXL_RELEASE, hasErrors, NIXL_RELEASES, type NixlRelease, RELEASES } from './releases.js';
export * from './semconv.js';
export { HISTOGRAM_EVENTS, tallyOptions, type TallyTable, type TallyTableOptions } from './tally-options.js';
export {
  type AgentReading,
  type Buckets,
  eventLike,
  type EventReading,
  eventOfType,
  sameEvent,
  type TransferReading,
} from './tally.js';
export type { Exact } from '../exact.js';
