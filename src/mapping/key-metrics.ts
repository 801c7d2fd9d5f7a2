/** Metrics of the events that an agent has sent, in the event table or not: by category and event, or by category. */
import type { Exact } from '../ground/exact.js';
import { CATEGORY_LABELS, eventKind, type EventMatch } from './event-keys.js';
import type { EventRow } from './events.js';
import { numberPoint } from './fields.js';
import type { EventPoint, HistogramMetric, NumberMetric, Point } from './metric.js';
import * as semconv from './semconv.js';

type KeyMetrics = [events: NumberMetric, ...others: (NumberMetric | HistogramMetric)[]];

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
 * Returns the metrics, with one series per category and event. nixl.event.value and nixl.event.last have no unit,
 * because the unit of an unknown event is unknown. `selects` is not called for the overflow key, which is always exported.
 * `hasOwnHistogram`: true for events that the options declare with a histogram.
 */
export function keyMetrics(selects: EventMatch, hasOwnHistogram: EventMatch): KeyMetrics {
  const applies: EventMatch = (event) => event.count > 0 && (event.overflow || selects(event));
  return [
    numbers(semconv.METRIC_NIXL_EVENTS, 'Events read from the ring.', '{event}', 'counter', {
      applies,
      field: 'count',
      read: ({ count }) => count,
    }),
    numbers(semconv.METRIC_NIXL_EVENT_VALUE, 'Sum of event values.', '', 'counter', {
      applies,
      field: 'sum',
      read: ({ sum }) => sum,
    }),
    numbers(semconv.METRIC_NIXL_EVENT_LAST, 'Value of the most recent event.', '', 'gauge', {
      applies: (event) => applies(event) && !event.overflow,
      field: 'last',
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
        read: ({ histogram }) => histogram!,
      },
    },
  ];
}

/**
 * Returns the same metrics with fewer series. The events of the table are counted by category only, without the label
 * `event`: their values are in NIXL's own series. All other events keep both labels. Each event counts in one series,
 * so that sum() and sum by (category) are those of keyMetrics(). A placeholder in `event` would look like an event's name.
 */
export function categoryMetrics(
  rows: readonly EventRow[],
  selects: EventMatch,
  hasOwnHistogram: EventMatch,
): KeyMetrics {
  const [events, ...others] = keyMetrics((event) => !event.known && selects(event), hasOwnHistogram);
  return [{ ...events, points: countsByCategory(rows) }, ...others];
}

function countsByCategory(rows: readonly EventRow[]): Point<Exact>[] {
  return [...CATEGORY_LABELS].flatMap(([category, labels]) => {
    const types = rows.filter((row) => row.category === category).map(({ type }) => type);
    return types.length === 0 ? [] : [numberPoint({ types, value: 'count' }, labels)];
  });
}
