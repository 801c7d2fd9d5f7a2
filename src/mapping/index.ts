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
  CUSTOM_EVENT_KINDS,
  type CustomEvent,
  type CustomEventKind,
} from './custom-events.js';
export { eventName } from './event-name.js';
export { type EventMetricRefs, type EventRow, EVENTS, type MetricRef } from './events.js';
export { gpuIdentifier, gpuWord } from './gpu-identifier.js';
export { eventKind, type EventLabels, eventLabels, OVERFLOW_LABELS } from './key-metrics.js';
export {
  type Distribution,
  type EventPoint,
  type Exact,
  type HistogramMetric,
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
