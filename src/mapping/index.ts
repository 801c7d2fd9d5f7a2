/** Room 2, meaning: what events are called and measured in. Pure: no I/O, no clock, no OpenTelemetry. */
import { agentMetrics } from './agent-metrics.js';
import { eventMetrics } from './event-metrics.js';
import { keyMetrics } from './key-metrics.js';
import type { Metric } from './metric.js';
import type { Naming } from './naming.js';
import { transferMetrics } from './transfer-metrics.js';

/** All metrics of agents in one naming, NIXL's own first. */
export function metricsOf(naming: Naming): Metric[] {
  return [...eventMetrics(naming), ...transferMetrics(), ...keyMetrics(), ...agentMetrics()];
}

export { type Bounds, DEFAULT_BOUNDS, DURATION_BOUNDS_US, SIZE_BOUNDS, THROUGHPUT_BOUNDS } from './bounds.js';
export { BAD_CATEGORY, CATEGORIES, Category, type CategoryNumber, categoryName, type EventKind } from './categories.js';
export { type EventMetricRefs, type EventRow, EVENTS, type MetricRef } from './events.js';
export { eventKind, eventLabels } from './key-metrics.js';
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
  withLabels,
} from './naming.js';
export { tallyOptions, type TallyTable } from './tally-options.js';
export {
  type AgentReading,
  type Buckets,
  eventLike,
  type EventReading,
  eventOfType,
  sameEvent,
  type TransferReading,
} from './tally.js';
