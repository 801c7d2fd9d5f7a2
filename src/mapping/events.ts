/**
 * Event table: all knowledge about NIXL's event types, one row per type, indexed by type number. To support a new event
 * type, add ONE row at the end.
 */
import { type AgentSnapshot, Category, type CategoryNumber, type EventTally } from '../ground/tally.js';
import type { EventKind } from './categories.js';
import type { Labels } from './naming.js';
import * as semconv from './semconv.js';

/** One metric that a row feeds. Rows may share a metric if their labels differ. */
export interface MetricRef {
  readonly name: string;
  readonly description: string;
  readonly labels?: Labels;
}

/** Metrics of one naming: the sum of all values, the last value, and the distribution. */
export interface EventMetricRefs {
  readonly counter?: MetricRef | undefined;
  /** The sum in place of `counter`, if its name must not end in `_total`. */
  readonly upDownCounter?: MetricRef | undefined;
  readonly gauge?: MetricRef | undefined;
  readonly histogram?: MetricRef | undefined;
}

export interface EventRow {
  readonly type: number;
  readonly event: string;
  /** Spelling in wire version 1, if different. */
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

const io = { name: semconv.METRIC_NIXL_TRANSFER_IO, description: 'Bytes transferred by completed requests.' };
const lastSize = {
  name: semconv.METRIC_NIXL_TRANSFER_LAST_SIZE,
  description: 'Size of the most recently completed transfer.',
};
const requests = { name: semconv.METRIC_NIXL_TRANSFER_REQUESTS, description: 'Completed transfer requests.' };

function metric(name: string, description: string): MetricRef {
  return { name, description };
}

/** Row of an error. All errors share one counter; its label is the NIXL status of the request. */
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
    otel: { counter: { name: semconv.METRIC_NIXL_ERRORS, description: 'Failed operations by NIXL status.', labels } },
  };
}

const DROPPED = 'Events that the agent reports as dropped before they reached its ring.';

// prettier-ignore
export const EVENTS: readonly EventRow[] = [
  { type: 0, event: 'agent_tx_bytes', category: Category.TRANSFER, kind: 'counter-gauge', unit: 'By',
    nixl: { counter: metric('agent_tx_bytes_total', 'Bytes written to peers.'),
            gauge: metric('agent_tx_last_bytes', 'Bytes written by the most recent request.') },
    otel: { counter: { ...io, labels: transmit }, gauge: { ...lastSize, labels: transmit } } },
  { type: 1, event: 'agent_rx_bytes', category: Category.TRANSFER, kind: 'counter-gauge', unit: 'By',
    nixl: { counter: metric('agent_rx_bytes_total', 'Bytes read from peers.'),
            gauge: metric('agent_rx_last_bytes', 'Bytes read by the most recent request.') },
    otel: { counter: { ...io, labels: receive }, gauge: { ...lastSize, labels: receive } } },
  { type: 2, event: 'agent_tx_requests_num', category: Category.TRANSFER, kind: 'counter', unit: '{request}',
    nixl: { counter: metric('agent_tx_requests_num_total', 'Completed write requests.') },
    otel: { counter: { ...requests, labels: transmit } } },
  { type: 3, event: 'agent_rx_requests_num', category: Category.TRANSFER, kind: 'counter', unit: '{request}',
    nixl: { counter: metric('agent_rx_requests_num_total', 'Completed read requests.') },
    otel: { counter: { ...requests, labels: receive } } },
  { type: 4, event: 'agent_memory_registered', category: Category.MEMORY, kind: 'counter-gauge', unit: 'By',
    nixl: { counter: metric('agent_memory_registered_total', 'Bytes of memory registered.'),
            gauge: metric('agent_memory_registered_last_bytes', 'Bytes registered by the most recent registration.') },
    otel: { counter: metric(semconv.METRIC_NIXL_MEMORY_REGISTERED, 'Memory registered.'),
            gauge: metric(semconv.METRIC_NIXL_MEMORY_LAST_REGISTERED, 'Size of the most recent registration.') } },
  { type: 5, event: 'agent_memory_deregistered', category: Category.MEMORY, kind: 'counter-gauge', unit: 'By',
    nixl: { counter: metric('agent_memory_deregistered_total', 'Bytes of memory deregistered.'),
            gauge: metric('agent_memory_deregistered_last_bytes', 'Bytes freed by the most recent deregistration.') },
    otel: { counter: metric(semconv.METRIC_NIXL_MEMORY_DEREGISTERED, 'Memory deregistered.'),
            gauge: metric(semconv.METRIC_NIXL_MEMORY_LAST_DEREGISTERED, 'Size of the most recent deregistration.') } },
  { type: 6, event: 'agent_xfer_time', category: Category.PERFORMANCE, kind: 'counter-gauge-histogram', unit: 'us',
    nixl: { counter: metric('agent_xfer_time_total', 'Total transfer time in microseconds.'),
            gauge: metric('agent_xfer_time', 'Duration of the most recent transfer, in microseconds.'),
            histogram: metric('agent_xfer_time_us', 'Transfer duration from start to completion, in microseconds.') },
    otel: { counter: metric(semconv.METRIC_NIXL_TRANSFER_TIME, 'Total transfer time.'),
            gauge: metric(semconv.METRIC_NIXL_TRANSFER_LAST_DURATION, 'Duration of the most recent transfer.'),
            histogram: metric(semconv.METRIC_NIXL_TRANSFER_DURATION, 'Transfer duration from start to completion.') } },
  { type: 7, event: 'agent_xfer_post_time', category: Category.PERFORMANCE, kind: 'counter-gauge-histogram', unit: 'us',
    nixl: { counter: metric('agent_xfer_post_time_total', 'Total time to post transfers, in microseconds.'),
            gauge: metric('agent_xfer_post_time', 'Time to post the most recent transfer, in microseconds.'),
            histogram: metric('agent_xfer_post_time_us', 'Time to post a transfer to the backend, in microseconds.') },
    otel: { counter: metric(semconv.METRIC_NIXL_TRANSFER_POST_TIME, 'Total time to post transfers.'),
            gauge: metric(semconv.METRIC_NIXL_TRANSFER_LAST_POST_DURATION, 'Time to post the most recent transfer.'),
            histogram: metric(semconv.METRIC_NIXL_TRANSFER_POST_DURATION, 'Time to post a transfer to the backend.') } },
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
    nixl: { counter: metric('agent_telemetry_events_dropped_total', DROPPED) },
    otel: { counter: metric(semconv.METRIC_NIXL_TELEMETRY_EVENTS_DROPPED, DROPPED) } },
];

/** Returns the tally of a known type. Undefined only if the source was opened with another event table. */
export function eventOfType({ events }: Pick<AgentSnapshot, 'events'>, type: number): EventTally | undefined {
  const atIndex = events[type];
  return atIndex?.type === type ? atIndex : events.find((event) => event.type === type);
}
