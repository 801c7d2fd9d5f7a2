/** History of all agents together: points of rates and percentiles, and counts by time and size. Pure. */
import { atScale, TALLY_SCALE, trimmed } from '../../ground/exponential.js';
import type { CountColumns, HistoryAnswer } from '../../view/answers/history-answer.js';
import { percentilesOf } from '../../view/figures/percentiles.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import type { Growth } from './flush-spread.js';
import { BucketGrowth, type BucketRange, CounterGrowth, LOWEST_BUCKET } from './growth.js';
import { KEPT_MS, KeptPoints } from './points.js';
import { Counter } from './counters.js';

/** Shortest time between two points. */
export const POINT_MS = 950;
/** A longer time without a sample is a gap: serve was blocked, or the machine suspended. */
export const GAP_MS = 8000;
/** Time of one column of counts, and the slack of the timer that takes samples. */
const COLUMN_MS = 5000;
const SLACK_MS = 100;

/** Places of a point's values. Those of the errors follow, one for each status. */
export const Measure = {
  TX: 0,
  RX: 1,
  REQUESTS: 2,
  FULL: 3,
  DROPPED: 4,
  FILL: 5,
  MEMORY: 6,
  P50: 7,
  P90: 8,
  P99: 9,
  ERRORS: 10,
} as const;

/** Measures that an answer has columns of, by the names that it gives them. */
export const MEASURES: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(Measure).flatMap(([name, place]) => (place === Measure.ERRORS ? [] : [[name.toLowerCase(), place]])),
);

const DURATION_BITS = 28; // 268 s
const SIZE_BITS = 44; // 16 TiB
/** Whole transfer times, for percentiles. */
const TIMES: BucketRange = { scale: TALLY_SCALE, places: 2 + DURATION_BITS * 2 ** TALLY_SCALE };
/** Four buckets for each power of two, for a heatmap. */
export const HEAT: BucketRange = { scale: 2, places: 2 + DURATION_BITS * 4 };
/** Sizes are usually powers of two: one bucket for each is enough. */
export const SIZES: BucketRange = { scale: 0, places: 2 + SIZE_BITS };

export class FleetHistory {
  readonly points: KeptPoints;
  readonly transferTimes = columnsOf(HEAT);
  readonly txSizes = columnsOf(SIZES);
  readonly rxSizes = columnsOf(SIZES);
  readonly #counters = new CounterGrowth();
  readonly #times = new BucketGrowth(TIMES, ({ transferTimesUs }) => transferTimesUs);
  readonly #txSizes = new BucketGrowth(SIZES, ({ txSizes }) => txSizes && atScale(txSizes, SIZES.scale));
  readonly #rxSizes = new BucketGrowth(SIZES, ({ rxSizes }) => rxSizes && atScale(rxSizes, SIZES.scale));
  readonly #width: number;
  /** Transfer times since the last column. */
  #heat = new Float64Array(HEAT.places);
  #pointMs: number | undefined;
  #columnMs = 0;

  constructor(statuses: number) {
    this.#width = Measure.ERRORS + statuses;
    this.points = new KeptPoints(Math.ceil(KEPT_MS / POINT_MS), this.#width, Float32Array);
  }

  /** Takes the points of an earlier process. What lies between them and the first sample here is a gap. */
  restore(
    kept: Pick<HistoryAnswer, 'timesMs' | 'fleet' | 'transferTimesUs' | 'txSizes' | 'rxSizes'>,
    statuses: readonly string[],
    takenMs: number,
  ): void {
    const { fleet } = kept;
    kept.timesMs.forEach((timeMs, i) => {
      // A gap has no values.
      if (fleet.tx[i] === null) return this.points.add(timeMs);
      const point = new Float64Array(this.#width);
      for (const [name, place] of Object.entries(MEASURES)) point[place] = fleet[name as 'tx'][i] ?? NaN;
      statuses.forEach((status, k) => (point[Measure.ERRORS + k] = fleet.errors[status]?.[i] ?? 0));
      this.points.add(timeMs, point);
    });
    restoreCounts(this.transferTimes, HEAT, kept.transferTimesUs);
    restoreCounts(this.txSizes, SIZES, kept.txSizes);
    restoreCounts(this.rxSizes, SIZES, kept.rxSizes);
    for (const one of [this.points, this.transferTimes, this.txSizes, this.rxSizes]) one.add(takenMs);
  }

  add(takenMs: number, agents: readonly ServedAgent[]): void {
    if (this.#pointMs !== undefined && takenMs - this.#pointMs < POINT_MS) return;
    const seconds = (takenMs - (this.#pointMs ?? takenMs)) / 1000;
    const isGap = seconds * 1000 > GAP_MS;
    const growth = this.#counters.take(takenMs, agents);
    const times = this.#times.take(takenMs, agents);
    const isFirst = this.#pointMs === undefined;
    this.#pointMs = takenMs;
    if (isFirst || isGap) {
      if (isGap) this.points.add(takenMs);
      return this.#restartColumns(takenMs, agents, isGap);
    }
    this.points.add(takenMs, this.#point(seconds, agents, growth, times));
    addHeat(this.#heat, times);
    if (takenMs - this.#columnMs >= COLUMN_MS - SLACK_MS) this.#addColumns(takenMs, agents);
  }

  #point(seconds: number, agents: readonly ServedAgent[], growth: Growth, times: Float64Array): Float64Array {
    const point = new Float64Array(this.#width);
    for (const one of growth) {
      if (one === undefined) continue;
      for (let i = 0; i < Counter.ERRORS; i++) point[i]! += one[i]! / seconds;
      for (let i = Counter.ERRORS; i < one.length; i++)
        point[Measure.ERRORS + i - Counter.ERRORS]! += one[i]! / seconds;
    }
    point[Measure.FILL] = agents.reduce((most, { fill }) => Math.max(most, fill), 0);
    point[Measure.MEMORY] = agents.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
    const { p50 = NaN, p90 = NaN, p99 = NaN } = percentilesOf(trimmed(TIMES.scale, 0, LOWEST_BUCKET, times)) ?? {};
    point.set([p50, p90, p99], Measure.P50);
    return point;
  }

  #addColumns(takenMs: number, agents: readonly ServedAgent[]): void {
    this.transferTimes.add(takenMs, this.#heat);
    this.txSizes.add(takenMs, this.#txSizes.take(takenMs, agents));
    this.rxSizes.add(takenMs, this.#rxSizes.take(takenMs, agents));
    this.#heat.fill(0);
    this.#columnMs = takenMs;
  }

  #restartColumns(takenMs: number, agents: readonly ServedAgent[], isGap: boolean): void {
    this.#txSizes.take(takenMs, agents);
    this.#rxSizes.take(takenMs, agents);
    this.#heat.fill(0);
    this.#columnMs = takenMs;
    if (isGap) for (const columns of [this.transferTimes, this.txSizes, this.rxSizes]) columns.add(takenMs);
  }
}

/** Seven digits are enough for the counts of some seconds. */
function columnsOf({ places }: BucketRange): KeptPoints {
  return new KeptPoints(Math.ceil(KEPT_MS / (COLUMN_MS - SLACK_MS)), places, Float32Array);
}

function addHeat(heat: Float64Array, times: Float64Array): void {
  const shift = TIMES.scale - HEAT.scale;
  for (let place = 0; place < times.length; place++) {
    const count = times[place]!;
    if (count > 0) heat[Math.min(((place + LOWEST_BUCKET) >> shift) - LOWEST_BUCKET, heat.length - 1)]! += count;
  }
}

function restoreCounts(columns: KeptPoints, { places }: BucketRange, kept: CountColumns): void {
  kept.timesMs.forEach((timeMs, i) => {
    const counts = kept.counts[i];
    if (counts === null || counts === undefined) return columns.add(timeMs);
    const values = new Float64Array(places);
    counts.forEach((count, k) => (values[Math.min(kept.offsets[i]! - LOWEST_BUCKET + k, places - 1)] = count));
    columns.add(timeMs, values);
  });
}
