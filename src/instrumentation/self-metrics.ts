/** Metrics of the collector itself: one per process, not of an agent. The same names in both namings. */
import {
  type Labels,
  METRIC_NIXL_COLLECTOR_AGENTS,
  METRIC_NIXL_COLLECTOR_LAG_MAX,
  METRIC_NIXL_COLLECTOR_LATE_TICKS,
  METRIC_NIXL_COLLECTOR_PROBLEMS,
  METRIC_NIXL_COLLECTOR_TICKS,
  METRIC_NIXL_EXPORTER_FAILURES,
} from '../mapping/index.js';
import type { AgentLife, RingProblem } from '../shm-bridge/types.js';
import type { OwnMetricName } from '../settings/reserved-names.js';
import type { FeedSnapshot } from './snapshot-feed.js';

export interface SelfPoint {
  readonly labels: Labels;
  readonly value: number;
}

export interface SelfMetric {
  readonly name: OwnMetricName;
  readonly kind: 'counter' | 'gauge' | 'updowncounter';
  readonly unit: string;
  readonly description: string;
  /** Every point at every call, at 0 too, in the same order. None where there is nothing to count. */
  points(snapshot: FeedSnapshot): SelfPoint[];
}

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

function counted<T extends string>(words: readonly T[], key: 'life' | 'state', found: Iterable<T>): SelfPoint[] {
  const counts = new Map<T, number>(words.map((word) => [word, 0]));
  for (const word of found) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, value]) => ({ labels: { [key]: word }, value }));
}

/** A snapshot lists at most 1000 problems; what is beyond them has no state here. */
function problems({ problems, problemCount }: FeedSnapshot): SelfPoint[] {
  const states = problems.map(({ state }) => state);
  const unlisted = { labels: { state: 'unlisted' }, value: Math.max(0, problemCount - problems.length) };
  return [...counted(PROBLEM_STATES, 'state', states), unlisted];
}

export const SELF_METRICS: readonly SelfMetric[] = [
  {
    name: METRIC_NIXL_COLLECTOR_TICKS,
    kind: 'counter',
    unit: '{tick}',
    description: 'Times the collector thread went round its rings.',
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
    description: 'Agents whose rings are attached, by life, exported or not.',
    points: ({ agents }) =>
      counted(
        LIVES,
        'life',
        agents.map(({ life }) => life),
      ),
  },
  {
    name: METRIC_NIXL_COLLECTOR_PROBLEMS,
    kind: 'updowncounter',
    unit: '{file}',
    description: 'Files that are passed over, and directories without rings, by state.',
    points: problems,
  },
  {
    name: METRIC_NIXL_EXPORTER_FAILURES,
    kind: 'counter',
    unit: '{failure}',
    description: 'Exports of serve that failed, by exporter, and errors that its code threw outside of an export.',
    points: ({ failedExports = [] }) =>
      failedExports.map(({ exporter, count }) => ({ labels: { exporter }, value: count })),
  },
];
