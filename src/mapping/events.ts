/**
 * The event table: everything this package knows about NIXL's event types, one row per type, indexed by type number.
 * To support a new event type, add ONE row at the end.
 */
import {
  METRIC_NIXL_ERRORS,
  METRIC_NIXL_MEMORY_DEREGISTERED,
  METRIC_NIXL_MEMORY_LAST_DEREGISTERED,
  METRIC_NIXL_MEMORY_LAST_REGISTERED,
  METRIC_NIXL_MEMORY_REGISTERED,
  METRIC_NIXL_TELEMETRY_EVENTS_DROPPED,
  METRIC_NIXL_TRANSFER_DURATION,
  METRIC_NIXL_TRANSFER_IO,
  METRIC_NIXL_TRANSFER_LAST_DURATION,
  METRIC_NIXL_TRANSFER_LAST_POST_DURATION,
  METRIC_NIXL_TRANSFER_LAST_SIZE,
  METRIC_NIXL_TRANSFER_POST_DURATION,
  METRIC_NIXL_TRANSFER_POST_TIME,
  METRIC_NIXL_TRANSFER_REQUESTS,
  METRIC_NIXL_TRANSFER_TIME,
} from './semconv.js';
import { Category, type CategoryNumber, type EventKind } from './categories.js';
import type { Labels } from './naming.js';

/** One metric that a row feeds. Rows may share a metric if their labels differ. */
export interface MetricRef {
  readonly name: string;
  readonly description: string;
  readonly labels?: Labels;
}

/** The metrics of one naming: of all values the sum, of the last one its value, of all of them the distribution. */
export interface EventMetricRefs {
  readonly counter?: MetricRef;
  /** The sum as well, where its name must not end in `_total`. */
  readonly upDownCounter?: MetricRef;
  readonly gauge?: MetricRef;
  readonly histogram?: MetricRef;
}

export interface EventRow {
  readonly type: number;
  readonly event: string;
  /** How wire version 1 spells it, where that differs. */
  readonly wireVersion1Name?: string;
  readonly category: CategoryNumber;
  readonly kind: EventKind;
  /** UCUM unit of the event's value. */
  readonly unit: 'By' | 'us' | '{request}' | '{error}' | '{event}';
  readonly nixl: EventMetricRefs;
  readonly otel: EventMetricRefs;
}

const transmit = { direction: 'transmit' } as const;
const receive = { direction: 'receive' } as const;

const io = { name: METRIC_NIXL_TRANSFER_IO, description: 'Bytes moved by finished transfers.' };
const lastSize = { name: METRIC_NIXL_TRANSFER_LAST_SIZE, description: 'Bytes moved by the latest finished transfer.' };
const requests = { name: METRIC_NIXL_TRANSFER_REQUESTS, description: 'Finished transfer requests.' };

function metric(name: string, description: string): MetricRef {
  return { name, description };
}

/** All failures share one counter; the NIXL status that a request ended with tells them apart. */
export function errorRow(type: number, status: string): EventRow {
  const labels = { status };
  return {
    type,
    event: `agent_err_${status}`,
    wireVersion1Name: `NIXL_ERR_${status.toUpperCase()}`,
    category: Category.ERROR,
    kind: 'counter',
    unit: '{error}',
    nixl: { counter: { name: 'agent_errors_total', description: 'Failed operations by NIXL status.', labels } },
    otel: { counter: { name: METRIC_NIXL_ERRORS, description: 'Operations that ended in a NIXL error.', labels } },
  };
}

// prettier-ignore
export const EVENTS: readonly EventRow[] = [
  { type: 0, event: 'agent_tx_bytes', category: Category.TRANSFER, kind: 'counter-gauge', unit: 'By',
    nixl: { counter: metric('agent_tx_bytes_total', 'Bytes the agent wrote to its peers.'),
            gauge: metric('agent_tx_last_bytes', 'Bytes written by the latest request.') },
    otel: { counter: { ...io, labels: transmit }, gauge: { ...lastSize, labels: transmit } } },
  { type: 1, event: 'agent_rx_bytes', category: Category.TRANSFER, kind: 'counter-gauge', unit: 'By',
    nixl: { counter: metric('agent_rx_bytes_total', 'Bytes the agent read from its peers.'),
            gauge: metric('agent_rx_last_bytes', 'Bytes read by the latest request.') },
    otel: { counter: { ...io, labels: receive }, gauge: { ...lastSize, labels: receive } } },
  { type: 2, event: 'agent_tx_requests_num', category: Category.TRANSFER, kind: 'counter', unit: '{request}',
    nixl: { counter: metric('agent_tx_requests_num_total', 'Write requests the agent finished.') },
    otel: { counter: { ...requests, labels: transmit } } },
  { type: 3, event: 'agent_rx_requests_num', category: Category.TRANSFER, kind: 'counter', unit: '{request}',
    nixl: { counter: metric('agent_rx_requests_num_total', 'Read requests the agent finished.') },
    otel: { counter: { ...requests, labels: receive } } },
  { type: 4, event: 'agent_memory_registered', category: Category.MEMORY, kind: 'counter-gauge', unit: 'By',
    nixl: { counter: metric('agent_memory_registered_total', 'Bytes of memory registered so far.'),
            gauge: metric('agent_memory_registered_last_bytes', 'Bytes registered by the latest registration.') },
    otel: { counter: metric(METRIC_NIXL_MEMORY_REGISTERED, 'Memory registered with the agent so far.'),
            gauge: metric(METRIC_NIXL_MEMORY_LAST_REGISTERED, 'Memory registered by the latest registration.') } },
  { type: 5, event: 'agent_memory_deregistered', category: Category.MEMORY, kind: 'counter-gauge', unit: 'By',
    nixl: { counter: metric('agent_memory_deregistered_total', 'Bytes of memory deregistered so far.'),
            gauge: metric('agent_memory_deregistered_last_bytes', 'Bytes deregistered by the latest call.') },
    otel: { counter: metric(METRIC_NIXL_MEMORY_DEREGISTERED, 'Memory deregistered from the agent so far.'),
            gauge: metric(METRIC_NIXL_MEMORY_LAST_DEREGISTERED, 'Memory deregistered by the latest call.') } },
  { type: 6, event: 'agent_xfer_time', category: Category.PERFORMANCE, kind: 'counter-gauge-histogram', unit: 'us',
    nixl: { counter: metric('agent_xfer_time_total', 'Microseconds spent in transfers, from start to completion.'),
            gauge: metric('agent_xfer_time', 'Microseconds the latest transfer took.'),
            histogram: metric('agent_xfer_time_us', 'Transfers by the microseconds they took, start to completion.') },
    otel: { counter: metric(METRIC_NIXL_TRANSFER_TIME, 'Time spent in transfers, from start to completion.'),
            gauge: metric(METRIC_NIXL_TRANSFER_LAST_DURATION, 'Time the latest transfer took.'),
            histogram: metric(METRIC_NIXL_TRANSFER_DURATION, 'Duration of transfers, from start to completion.') } },
  { type: 7, event: 'agent_xfer_post_time', category: Category.PERFORMANCE, kind: 'counter-gauge-histogram', unit: 'us',
    nixl: { counter: metric('agent_xfer_post_time_total', 'Microseconds spent posting transfers to the backend.'),
            gauge: metric('agent_xfer_post_time', 'Microseconds that posting the latest transfer took.'),
            histogram: metric('agent_xfer_post_time_us', 'Transfers by the microseconds it took to post them.') },
    otel: { counter: metric(METRIC_NIXL_TRANSFER_POST_TIME, 'Time spent posting transfers to the backend.'),
            gauge: metric(METRIC_NIXL_TRANSFER_LAST_POST_DURATION, 'Time that posting the latest transfer took.'),
            histogram: metric(METRIC_NIXL_TRANSFER_POST_DURATION, 'Time from the start of a transfer until it was posted.') } },
  errorRow(8, 'not_posted'),
  errorRow(9, 'invalid_param'),
  errorRow(10, 'backend'),
  errorRow(11, 'not_found'),
  errorRow(12, 'mismatch'),
  errorRow(13, 'not_allowed'),
  errorRow(14, 'repost_active'),
  errorRow(15, 'unknown'),
  errorRow(16, 'not_supported'),
  errorRow(17, 'remote_disconnect'),
  errorRow(18, 'canceled'),
  errorRow(19, 'no_telemetry'),
  { type: 20, event: 'agent_telemetry_events_dropped', category: Category.SYSTEM, kind: 'counter', unit: '{event}',
    nixl: { counter: metric('agent_telemetry_events_dropped_total', 'Events the agent says it dropped before its ring.') },
    otel: { counter: metric(METRIC_NIXL_TELEMETRY_EVENTS_DROPPED, 'Events the agent says it dropped before its ring.') } },
];
