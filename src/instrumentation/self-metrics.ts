/** Metrics of the collector, and of sampled durations. The same names in both namings. */
import { countsOf } from '../ground/maps.js';
import { eventName, type Labels, NO_LABELS } from '../mapping/index.js';
import * as semconv from '../mapping/semconv.js';
import { OWN_METRICS, type OwnMetricName } from '../settings/reserved-names.js';
import type { AgentLife, PlaceSpace, RingProblem } from '../shm-bridge/index.js';
import { agentsThatFit } from '../shm-bridge/place-space.js';
import type { FeedSnapshot } from './feed/snapshot-feed.js';
import type { DurationCounts, DurationStats } from './instruments/duration-pump.js';

interface SelfPoint {
  readonly labels: Labels;
  readonly value: number;
}

/** Returns every point at every call, at 0 too, in the same order. */
type SelfPoints<Input extends unknown[]> = (...input: Input) => SelfPoint[];

export interface OwnMetric<Input extends unknown[]> {
  readonly name: OwnMetricName;
  readonly kind: 'counter' | 'gauge' | 'updowncounter';
  readonly unit: string;
  readonly description: string;
  readonly points: SelfPoints<Input>;
}

const MILLISECONDS_PER_SECOND = 1000;
const LIVES: readonly AgentLife[] = ['alive', 'dead', 'unknown'];
/** `relative`, `no_rings`, `no_space` and `unseen` are states of places, the others of files and places. */
const PROBLEM_STATES: readonly RingProblem['state'][] = [
  'absent',
  'initializing',
  'incompatible',
  'corrupt',
  'busy',
  'denied',
  'deleted',
  'relative',
  'no_rings',
  'no_space',
  'unseen',
];

export function single(value: number | undefined): SelfPoint[] {
  return value === undefined ? [] : [{ labels: NO_LABELS, value }];
}

function countedBy<K extends 'life' | 'state', T extends string>(
  key: K,
  values: readonly T[],
  found: readonly Readonly<Record<K, T>>[],
): SelfPoint[] {
  const counts = countsOf(found.map((one) => one[key]));
  return values.map((value) => ({ labels: { [key]: value }, value: counts.get(value) ?? 0 }));
}

/** A snapshot lists at most 1000 problems; the rest is counted as `unlisted`. */
function problemPoints({ problems, problemCount, stateProblems }: FeedSnapshot): SelfPoint[] {
  return [
    ...countedBy('state', PROBLEM_STATES, problems),
    { labels: { state: 'no_state' }, value: stateProblems.length },
    { labels: { state: 'unlisted' }, value: Math.max(0, problemCount - problems.length) },
  ];
}

/** The bytes of a PlaceSpace, by what they are for. */
const SPACE_USES = [
  ['free', 'freeBytes'],
  ['lacking', 'lackBytes'],
  ['live', 'liveBytes'],
  ['ended', 'endedBytes'],
  ['state', 'stateBytes'],
] as const;

/** Directories of limited size. Two globs may lie in one directory. */
function spacesOf({ places }: FeedSnapshot): [path: string, space: PlaceSpace][] {
  const limited = places.filter(({ space }) => space.totalBytes > 0);
  return [...new Map(limited.map(({ path, space }) => [path, space]))];
}

export function own<Input extends unknown[]>(
  name: OwnMetricName,
  unit: string,
  description: string,
  points: SelfPoints<Input>,
): OwnMetric<Input> {
  return { name, kind: OWN_METRICS[name], unit, description, points };
}

export const SELF_METRICS: readonly OwnMetric<[snapshot: FeedSnapshot]>[] = [
  own(
    semconv.METRIC_NIXL_COLLECTOR_TICKS,
    '{tick}',
    'Passes of the collector thread over its rings.',
    ({ collector }) => single(collector.ticks),
  ),
  own(
    semconv.METRIC_NIXL_COLLECTOR_LATE_TICKS,
    '{tick}',
    'Ticks that began more than one drain interval late.',
    ({ collector }) => single(collector.lateTicks),
  ),
  own(
    semconv.METRIC_NIXL_COLLECTOR_LAG_MAX,
    's',
    'Longest time between the beginnings of two ticks, without waits for the first ring.',
    ({ collector }) => single(collector.maxLagMs / MILLISECONDS_PER_SECOND),
  ),
  own(
    semconv.METRIC_NIXL_COLLECTOR_AGENTS,
    '{agent}',
    'Agents with an attached ring by life, exported or not.',
    ({ agents }) => countedBy('life', LIVES, agents),
  ),
  own(
    semconv.METRIC_NIXL_COLLECTOR_PROBLEMS,
    '{file}',
    'Skipped files, deleted rings of living agents, directories without rings, space or sight of lives, and rings without a usable state file, by state.',
    problemPoints,
  ),
  own(
    semconv.METRIC_NIXL_COLLECTOR_SPACE,
    'By',
    'Space of a directory: free, of which rings of living agents lack a part, and allocated for rings and state files.',
    (snapshot) =>
      spacesOf(snapshot).flatMap(([ring_directory, space]) =>
        SPACE_USES.map(([use, bytes]) => ({ labels: { ring_directory, use }, value: space[bytes] })),
      ),
  ),
  own(
    semconv.METRIC_NIXL_COLLECTOR_SPACE_AGENTS,
    '{agent}',
    'Further agents for whose rings a directory has space.',
    (snapshot) =>
      spacesOf(snapshot).map(([ring_directory, space]) => ({
        labels: { ring_directory },
        value: agentsThatFit(space)!,
      })),
  ),
];

/**
 * Quality of the histograms that the instrumentation itself records. A producer's histograms hold every duration.
 * `before`: the stats at the previous collect.
 */
export const DURATION_METRICS: readonly OwnMetric<[stats: DurationStats, before: DurationStats]>[] = [
  own(
    semconv.METRIC_NIXL_DURATION_SAMPLED_RATIO,
    '1',
    'Share of the durations since the previous collect that reach the histograms; 1 without durations.',
    (stats, before) =>
      stats.map((counts) => {
        const earlier = before.find(({ type }) => type === counts.type);
        return { labels: { event: eventOf(counts) }, value: recordedShare(counts, earlier) };
      }),
  ),
  own(
    semconv.METRIC_NIXL_DURATION_EVENTS,
    '{event}',
    'Durations by outcome: recorded in a histogram, left out by sampling, or lost.',
    (stats) =>
      stats.flatMap((counts) => {
        const event = eventOf(counts);
        return [
          { labels: { event, outcome: 'recorded' }, value: counts.recorded },
          { labels: { event, outcome: 'sampled_out' }, value: counts.sampledOut },
          { labels: { event, outcome: 'lost' }, value: counts.lost },
        ];
      }),
  ),
];

function eventOf({ type }: DurationCounts): string {
  return eventName({ type, known: true });
}

function recordedShare(now: DurationCounts, before: DurationCounts | undefined): number {
  const seen = now.seen - (before?.seen ?? 0);
  const missing = now.sampledOut + now.lost - (before === undefined ? 0 : before.sampledOut + before.lost);
  return seen <= 0 ? 1 : Math.max(0, 1 - missing / seen);
}
