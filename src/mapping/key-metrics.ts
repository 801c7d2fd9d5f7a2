/** Metrics with one series per category and event that an agent has sent, in the event table or not. */
import type { Exact } from '../exact.js';
import { eventKind, type EventMatch } from './event-keys.js';
import { distributionOf, type EventPoint, type Metric, type NumberMetric } from './metric.js';
import * as semconv from './semconv.js';

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
 * Returns the metrics. nixl.event.value and nixl.event.last have no unit, because the unit of an unknown event is unknown.
 * `selects` is not called for the overflow key, which is always exported. `hasOwnHistogram`: true for events that the
 * options declare with a histogram.
 */
export function keyMetrics(selects: EventMatch, hasOwnHistogram: EventMatch): Metric[] {
  const applies: EventMatch = (event) => event.count > 0 && (event.overflow || selects(event));
  return [
    numbers(semconv.METRIC_NIXL_EVENTS, 'Events read from the ring.', '{event}', 'counter', {
      applies,
      read: ({ count }) => count,
    }),
    numbers(semconv.METRIC_NIXL_EVENT_VALUE, 'Sum of event values.', '', 'counter', {
      applies,
      read: ({ sum }) => sum,
    }),
    numbers(semconv.METRIC_NIXL_EVENT_LAST, 'Value of the most recent event.', '', 'gauge', {
      applies: (event) => applies(event) && !event.overflow,
      read: ({ last }) => last,
    }),
    {
      name: semconv.METRIC_NIXL_EVENT_DISTRIBUTION,
      description: 'Values of performance events without a dedicated metric.',
      unit: '',
      divisor: 1,
      kind: 'histogram',
      points: [],
      perEvent: {
        applies: (event) =>
          !event.known &&
          event.histogram !== undefined &&
          applies(event) &&
          eventKind(event) === 'counter-gauge-histogram' &&
          !hasOwnHistogram(event),
        read: (event) => distributionOf(event)!,
      },
    },
  ];
}
