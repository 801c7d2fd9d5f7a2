/** Room 2, meaning: what events are called and measured in. Pure: no I/O, no clock, no OpenTelemetry. */
import { agentMetrics } from './agent-metrics.js';
import { type Allowlist, EVERYTHING } from './allowlist.js';
import { eventMetrics } from './event-metrics.js';
import { type EventRow, EVENTS } from './events.js';
import { keyMetrics } from './key-metrics.js';
import type { Metric } from './metric.js';
import type { Naming } from './naming.js';
import { transferMetrics } from './transfer-metrics.js';

/** All metrics of agents in one naming, NIXL's own first. `events`: of which events; default: all. */
export function metricsOf(naming: Naming, { selects }: Allowlist = EVERYTHING): Metric[] {
  const rows = EVENTS.filter(({ event }) => selects(event));
  return [
    ...eventMetrics(naming, rows),
    ...(hasTransfers(rows) ? transferMetrics() : []),
    ...keyMetrics(selects),
    ...agentMetrics(rows),
  ];
}

/** Transfers are put together from their times and bytes. */
function hasTransfers(rows: readonly EventRow[]): boolean {
  const has = (event: string): boolean => rows.some((row) => row.event === event);
  return has('agent_xfer_time') && (has('agent_tx_bytes') || has('agent_rx_bytes'));
}

export { utilization } from './agent-metrics.js';
export { type Allowlist, allowlist, EVERYTHING, globPattern } from './allowlist.js';

export { ATTRIBUTE_TYPES, type AttributeType, type AttributeValue, plainWord } from './attribute-values.js';
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
export { BAD_CATEGORY, CATEGORIES, Category, type CategoryNumber, categoryName, type EventKind } from './categories.js';
export { type EventMetricRefs, type EventRow, EVENTS, type MetricRef } from './events.js';
export { gpuIdentifier, gpuWord } from './gpu-identifier.js';
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
  TAKEN_ATTRIBUTE_NAMES,
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
