/** Metrics of the package itself, not of an agent. The same names in both namings. */
import {
  eventName,
  type Labels,
  METRIC_NIXL_COLLECTOR_AGENTS,
  METRIC_NIXL_COLLECTOR_LAG_MAX,
  METRIC_NIXL_COLLECTOR_LATE_TICKS,
  METRIC_NIXL_COLLECTOR_PROBLEMS,
  METRIC_NIXL_COLLECTOR_TICKS,
  METRIC_NIXL_DURATION_EVENTS,
  METRIC_NIXL_DURATION_SAMPLED_RATIO,
  METRIC_NIXL_EXPORTER_FAILURES,
} from '../mapping/index.js';
import type { OwnMetricName } from '../settings/reserved-names.js';
import type { AgentLife, RingProblem } from '../shm-bridge/types.js';
import type { FeedSnapshot } from './feed/snapshot-feed.js';
import type { DurationCounts, DurationStats } from './instruments/duration-pump.js';

export interface SelfPoint {
  readonly labels: Labels;
  readonly value: number;
}

interface OwnMetric<Input extends unknown[]> {
  readonly name: OwnMetricName;
  readonly kind: 'counter' | 'gauge' | 'updowncounter';
  readonly unit: string;
  readonly description: string;
  /** Returns every point at every call, at 0 too, in the same order. */
  points(...input: Input): SelfPoint[];
}

export type SelfMetric = OwnMetric<[snapshot: FeedSnapshot]>;
/** `before`: the stats at the previous collect. */
export type DurationMetric = OwnMetric<[stats: DurationStats, before: DurationStats]>;

const NO_LABELS: Labels = {};
const MILLISECONDS_PER_SECOND = 1000;
const LIVES: readonly AgentLife[] = ['alive', 'dead', 'unknown'];
/** `relative` and `no_rings` are states of places, the others of files and places. */
const PROBLEM_STATES: readonly RingProblem['state'][] = [
  'absent',
  'initializing',
  'incompatible',
  'corrupt',
  'busy',
  'denied',
  'relative',
  'no_rings',
];

function single(value: number): SelfPoint[] {
  return [{ labels: NO_LABELS, value }];
}

function countedBy<T extends string>(key: 'life' | 'state', values: readonly T[], found: Iterable<T>): SelfPoint[] {
  const counts = new Map<T, number>(values.map((value) => [value, 0]));
  for (const value of found) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([name, value]) => ({ labels: { [key]: name }, value }));
}

/** A snapshot lists at most 1000 problems; the rest is counted as `unlisted`. */
function problemPoints({ problems, problemCount }: FeedSnapshot): SelfPoint[] {
  const states = problems.map(({ state }) => state);
  const unlisted = { labels: { state: 'unlisted' }, value: Math.max(0, problemCount - problems.length) };
  return [...countedBy('state', PROBLEM_STATES, states), unlisted];
}

export const SELF_METRICS: readonly SelfMetric[] = [
  {
    name: METRIC_NIXL_COLLECTOR_TICKS,
    kind: 'counter',
    unit: '{tick}',
    description: 'Passes of the collector thread over its rings.',
    points: ({ collector }) => single(collector.ticks),
  },
  {
    name: METRIC_NIXL_COLLECTOR_LATE_TICKS,
    kind: 'counter',
    unit: '{tick}',
    description: 'Ticks that began more than one drain interval late.',
    points: ({ collector }) => single(collector.lateTicks),
  },
  {
    name: METRIC_NIXL_COLLECTOR_LAG_MAX,
    kind: 'gauge',
    unit: 's',
    description: 'Longest time between the beginnings of two ticks.',
    points: ({ collector }) => single(collector.maxLagMs / MILLISECONDS_PER_SECOND),
  },
  {
    name: METRIC_NIXL_COLLECTOR_AGENTS,
    kind: 'updowncounter',
    unit: '{agent}',
    description: 'Agents with an attached ring by life, exported or not.',
    points: ({ agents }) => {
      const found = agents.map(({ life }) => life);
      return countedBy('life', LIVES, found);
    },
  },
  {
    name: METRIC_NIXL_COLLECTOR_PROBLEMS,
    kind: 'updowncounter',
    unit: '{file}',
    description: 'Skipped files and directories without rings, by state.',
    points: problemPoints,
  },
  {
    name: METRIC_NIXL_EXPORTER_FAILURES,
    kind: 'counter',
    unit: '{failure}',
    description: 'Failed exports of serve by exporter, and errors that an exporter threw outside of an export.',
    points: ({ failedExports = [] }) => failedExports.map(([exporter, value]) => ({ labels: { exporter }, value })),
  },
];

/** Quality of the histograms that the instrumentation itself records. A producer's histograms hold every duration. */
export const DURATION_METRICS: readonly DurationMetric[] = [
  {
    name: METRIC_NIXL_DURATION_SAMPLED_RATIO,
    kind: 'gauge',
    unit: '1',
    description: 'Share of the durations since the previous collect that reach the histograms; 1 without durations.',
    points: (stats, before) =>
      stats.map((counts) => ({
        labels: { event: eventOf(counts) },
        value: recordedShare(
          counts,
          before.find(({ type }) => type === counts.type),
        ),
      })),
  },
  {
    name: METRIC_NIXL_DURATION_EVENTS,
    kind: 'counter',
    unit: '{event}',
    description: 'Durations by outcome: recorded in a histogram, left out by sampling, or lost.',
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

function recordedShare(now: DurationCounts, before: DurationCounts | undefined): number {
  const seen = now.seen - (before?.seen ?? 0);
  const missing = now.sampledOut + now.lost - (before === undefined ? 0 : before.sampledOut + before.lost);
  return seen <= 0 ? 1 : Math.max(0, 1 - missing / seen);
}
