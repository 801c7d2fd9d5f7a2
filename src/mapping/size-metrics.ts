/** Metrics of time by size: histograms of each class, and the model of each direction. */
import type { ExponentialTally } from '../ground/exponential.js';
import { TALLY_SCALE } from '../ground/exponential.js';
import type { AgentSnapshot, DirectionTimes, TimeModelNumbers, TimesOfClass } from '../ground/tally.js';
import type { Distribution, HistogramMetric, NumberMetric, Point } from './metric.js';
import * as semconv from './semconv.js';

const DIRECTIONS = ['transmit', 'receive'] as const;
const US_PER_SECOND = 1e6;

/** Bounds of the classes, as in native/tally/size_class.h. */
const CLASS_BOUNDS: readonly number[] = [...Array.from({ length: 21 }, (_, i) => 2 ** (10 + i)), Infinity];
/** Microseconds: 1, 4, 16 and so on to a minute. Powers of two, because buckets of the exponential counts end there. */
const TIME_BOUNDS: readonly number[] = Array.from({ length: 14 }, (_, i) => 4 ** i);
/** Buckets between two bounds. */
const BUCKETS_OF_STEP = 2 * 2 ** TALLY_SCALE;

/** Series of a class appear with its first transfer: an agent that moves blocks of one size has one. */
export function sizeClassMetrics(): HistogramMetric[] {
  const points = (times: 'duration' | 'post'): Point<Distribution>[] =>
    DIRECTIONS.flatMap((direction) =>
      CLASS_BOUNDS.map((upToBytes) => ({
        labels: { direction, up_to_bytes: upToBytes === Infinity ? '+Inf' : String(upToBytes) },
        read: ({ timeBySize }: AgentSnapshot) => distributionOf(timeBySize?.[direction], upToBytes, times),
      })),
    );
  const metric = (name: string, description: string, times: 'duration' | 'post'): HistogramMetric => ({
    ...{ name, description, unit: 's', divisor: US_PER_SECOND, kind: 'histogram', needs: 'sizeClasses' },
    points: points(times),
  });
  return [
    metric(
      semconv.METRIC_NIXL_TRANSFER_SIZE_CLASS_DURATION,
      'Duration of transfers of known direction by the size of the whole request.',
      'duration',
    ),
    metric(
      semconv.METRIC_NIXL_TRANSFER_SIZE_CLASS_POST_DURATION,
      'Time to post transfers of known direction by the size of the whole request.',
      'post',
    ),
  ];
}

function distributionOf(
  direction: DirectionTimes | undefined,
  upToBytes: number,
  times: 'duration' | 'post',
): Distribution | undefined {
  const found = direction?.classes.find((one) => one.upToBytes === upToBytes)?.[times];
  if (found === undefined || isEmpty(found.exponential)) return undefined;
  return distribution(found, direction!.startTimeMs);
}

function isEmpty({ zeroCount, counts }: ExponentialTally): boolean {
  return zeroCount === 0 && counts.length === 0;
}

function distribution({ sum, exponential }: TimesOfClass, startTimeMs: number | undefined): Distribution {
  const counts = new Array<number>(TIME_BOUNDS.length + 1).fill(0);
  counts[0]! += exponential.zeroCount;
  for (let i = 0; i < exponential.counts.length; i++) {
    // The bucket -1 ends with the first bound.
    const step = Math.ceil((exponential.offset + i + 1) / BUCKETS_OF_STEP);
    counts[Math.min(step, TIME_BOUNDS.length)]! += exponential.counts[i]!;
  }
  const found = { bounds: TIME_BOUNDS, counts, exponential, sum };
  return startTimeMs === undefined ? found : { ...found, startTimeMs };
}

// prettier-ignore
const MODEL: readonly (readonly [name: string, unit: string, divisor: number, description: string, field: keyof TimeModelNumbers])[] = [
  [semconv.METRIC_NIXL_TRANSFER_BASE_TIME, 's', US_PER_SECOND,
    'Time of a transfer that does not depend on its size, in the last minute, as the application saw it.', 'baseUs'],
  [semconv.METRIC_NIXL_TRANSFER_ASYMPTOTIC_RATE, 'By/s', 1,
    'Rate that large transfers approach, in the last minute, as the application saw it.', 'bytesPerSecond'],
  [semconv.METRIC_NIXL_TRANSFER_POST_SHARE, '1', 1, 'Share of the time of transfers that posting took in the last minute.',
    'postShare'],
  [semconv.METRIC_NIXL_TRANSFER_SLOWDOWN, '1', 1, 'How many times as long as usual transfers of the same size take, apart from a longer time of posting.', 'slowdown'],
  [semconv.METRIC_NIXL_POST_SLOWDOWN, '1', 1, 'How many times as long as usual posting transfers of the same size takes.',
    'postSlowdown'],
];

/** Gauges of a direction exist while its model tells them. */
export function timeModelMetrics(): NumberMetric[] {
  return MODEL.map(([name, unit, divisor, description, field]) => ({
    ...{ name, unit, divisor, description, kind: 'gauge', needs: 'timeModels' },
    points: DIRECTIONS.map((direction) => ({
      labels: { direction },
      read: ({ timeModels }: AgentSnapshot) => timeModels?.[direction]?.[field],
    })),
  }));
}
