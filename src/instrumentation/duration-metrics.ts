/** What the instrumentation says about its own duration histograms: how much of the truth they hold. */
import {
  eventName,
  type Labels,
  METRIC_NIXL_DURATION_EVENTS,
  METRIC_NIXL_DURATION_SAMPLED_RATIO,
} from '../mapping/index.js';
import type { OwnMetricName } from '../settings/reserved-names.js';
import type { DurationCounts, DurationStats } from './duration-pump.js';

export interface DurationMetric {
  readonly name: OwnMetricName;
  readonly kind: 'counter' | 'gauge';
  readonly unit: string;
  readonly description: string;
  /** `before`: the stats at the collect before. */
  points(stats: DurationStats, before: DurationStats): { readonly labels: Labels; readonly value: number }[];
}

/** The same names in both namings. A producer has none of these: its histograms hold everything. */
export const DURATION_METRICS: readonly DurationMetric[] = [
  {
    name: METRIC_NIXL_DURATION_SAMPLED_RATIO,
    kind: 'gauge',
    unit: '1',
    description: 'Share of the durations since the collect before that reach the histograms; 1 if there were none.',
    points: (stats, before) =>
      stats.map((counts) => ({
        labels: { event: eventOf(counts) },
        value: shareOf(
          counts,
          before.find(({ type }) => type === counts.type),
        ),
      })),
  },
  {
    name: METRIC_NIXL_DURATION_EVENTS,
    kind: 'counter',
    unit: '{event}',
    description: 'Durations by what became of them: recorded in a histogram, sampled out on purpose, or lost.',
    points: (stats) =>
      stats.flatMap((counts) => {
        const event = eventOf(counts);
        return [
          { labels: { event, outcome: 'recorded' }, value: counts.recorded },
          { labels: { event, outcome: 'sampled_out' }, value: counts.sampledOut },
          { labels: { event, outcome: 'lost' }, value: counts.lost },
        ];
      }),
  },
];

function eventOf({ type }: DurationCounts): string {
  return eventName({ type, known: true });
}

function shareOf(now: DurationCounts, before: DurationCounts | undefined): number {
  const seen = now.seen - (before?.seen ?? 0);
  const missing = now.sampledOut + now.lost - (before === undefined ? 0 : before.sampledOut + before.lost);
  return seen <= 0 ? 1 : Math.max(0, 1 - missing / seen);
}
