/** Metrics with one series per category and event that an agent has sent, whether the event table knows it or not. */
import {
  METRIC_NIXL_EVENTS,
  METRIC_NIXL_EVENT_DISTRIBUTION,
  METRIC_NIXL_EVENT_LAST,
  METRIC_NIXL_EVENT_VALUE,
} from './semconv.js';
import { categoryName, defaultKind, type EventKind } from './categories.js';
import { eventName } from './event-name.js';
import { EVENTS } from './events.js';
import type { Exact } from '../exact.js';
import type { EventPoint, HistogramMetric, Metric, NumberMetric } from './metric.js';
import type { EventReading } from './tally.js';

/** Category and event, as words. */
export interface EventLabels {
  readonly category: string;
  readonly event: string;
}

/** Of events that are too many to be told apart. */
export const OVERFLOW_LABELS: EventLabels = { category: 'overflow', event: 'overflow' };

export function eventLabels(event: EventReading): EventLabels {
  if (event.overflow) return OVERFLOW_LABELS;
  return { category: categoryName(event.category), event: eventName(event) };
}

export function eventKind(event: EventReading): EventKind {
  if (event.overflow) return 'counter';
  const row = event.known && event.type !== undefined ? EVENTS[event.type] : undefined;
  return row?.kind ?? defaultKind(event.category);
}

/** Not called for the overflow key, which is always exported. */
export type EventSelection = (event: EventReading) => boolean;

const ALL: EventSelection = () => true;

function numbers(
  name: string,
  description: string,
  unit: string,
  kind: NumberMetric['kind'],
  perEvent: EventPoint<Exact>,
): NumberMetric {
  return { name, description, unit, divisor: 1, kind, points: [], perEvent };
}

/**
 * Values of an unknown event have no unit that could be told: event.value and event.last carry none.
 * `hasOwnHistogram`: events that are declared with one.
 */
export function keyMetrics(
  selects: EventSelection = ALL,
  hasOwnHistogram: (event: EventReading) => boolean = () => false,
): Metric[] {
  const seen = (event: EventReading): boolean => event.count > 0 && (event.overflow || selects(event));
  const distribution: HistogramMetric = {
    name: METRIC_NIXL_EVENT_DISTRIBUTION,
    description: 'Values of performance events that have no metric of their own.',
    unit: '',
    divisor: 1,
    kind: 'histogram',
    points: [],
    perEvent: {
      applies: (event) =>
        !event.known &&
        event.histogram !== undefined &&
        seen(event) &&
        eventKind(event) === 'counter-gauge-histogram' &&
        !hasOwnHistogram(event),
      read: (event) => ({ bounds: event.histogram!.bounds, counts: event.histogram!.counts, sum: event.sum }),
    },
  };
  return [
    numbers(METRIC_NIXL_EVENTS, 'Events read from the ring.', '{event}', 'counter', {
      applies: seen,
      read: (event) => event.count,
    }),
    numbers(METRIC_NIXL_EVENT_VALUE, 'Sum of the values of these events.', '', 'counter', {
      applies: seen,
      read: (event) => event.sum,
    }),
    numbers(METRIC_NIXL_EVENT_LAST, 'Value of the latest of these events.', '', 'gauge', {
      applies: (event) => seen(event) && !event.overflow,
      read: (event) => event.last,
    }),
    distribution,
  ];
}
