/** What the instrumentation says about its own duration histograms: how much of the truth they hold. */
import type { Labels } from '../mapping/index.js';
import type { DurationStats } from './duration-pump.js';

export interface DurationMetric {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly unit: string;
  readonly description: string;
  points(stats: DurationStats): { readonly labels: Labels; readonly value: number }[];
}

/** The same names in both namings. A producer has none of these: its histograms hold everything. */
export const DURATION_METRICS: readonly DurationMetric[] = [
  {
    name: 'nixl.duration.sampled_ratio',
    kind: 'gauge',
    unit: '1',
    description: 'Share of durations that reach the histograms at present; below 1 the host saves main-thread time.',
    points: ({ share }) => [{ labels: {}, value: share }],
  },
  {
    name: 'nixl.duration.events',
    kind: 'counter',
    unit: '{event}',
    description: 'Durations by what became of them: recorded in a histogram, sampled out on purpose, or lost.',
    points: ({ recorded, sampledOut, lost }) => [
      { labels: { outcome: 'recorded' }, value: recorded },
      { labels: { outcome: 'sampled_out' }, value: sampledOut },
      { labels: { outcome: 'lost' }, value: lost },
    ],
  },
];
