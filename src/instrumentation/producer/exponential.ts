/** Exponential histograms of OpenTelemetry, made of the tallies' own. Pure. */
import type { ExponentialHistogramMetricData } from '@opentelemetry/sdk-metrics';
import { increase } from '../../ground/exact.js';
import {
  atScale,
  exponentialCount,
  exponentialSince,
  type ExponentialTally,
  highestValue,
  lowestValue,
} from '../../ground/exponential.js';
import { type Distribution, toDouble } from '../../mapping/index.js';

type ExponentialHistogram = ExponentialHistogramMetricData['dataPoints'][number]['value'];

/** Options of OpenTelemetry's aggregation. */
export interface ExponentialForm {
  /** Most buckets, at least 2. */
  readonly maxSize: number;
  readonly hasMinMax: boolean;
}

/** Defaults of the specification. */
export const DEFAULT_FORM: ExponentialForm = { maxSize: 160, hasMinMax: true };

/** `previous`: for a delta. All values count if any count fell since then. */
export function exponentialHistogramOf(
  current: Distribution,
  previous: Distribution | undefined,
  divisor: number,
  { maxSize, hasMinMax }: ExponentialForm,
): ExponentialHistogram {
  const tally = exponentialSince(previous?.exponential, current.exponential);
  const beganAnew = previous === undefined || tally === current.exponential;
  const sum = toDouble(beganAnew ? current.sum : increase(current.sum, previous.sum), divisor);
  const count = exponentialCount(tally);
  const { scale, zeroCount, offset, counts } = withAtMost(maxSize, divided(tally, divisor));
  return {
    count,
    sum,
    ...(hasMinMax && count > 0 && minMaxOf(tally, divisor, sum / count, count)),
    scale,
    zeroCount,
    positive: { offset: counts.length === 0 ? 0 : offset, bucketCounts: Array.from(counts) },
    negative: { offset: 0, bucketCounts: [] },
  };
}

/**
 * Moves all values to buckets of a unit that is `divisor` times larger. Buckets cannot be divided, so they move by a whole
 * number of buckets: at scale 4, microseconds become seconds by 319 in place of 318.9 buckets, and each bound moves by 0.41 %.
 */
export function divided(tally: ExponentialTally, divisor: number): ExponentialTally {
  if (divisor === 1) return tally;
  const { scale, zeroCount, offset, counts } = tally;
  return { scale, zeroCount, offset: offset - exponentialShift(divisor, scale), counts };
}

/** Returns by how many buckets divided() moves. */
export function exponentialShift(divisor: number, scale: number): number {
  return Math.round(Math.log2(divisor) * 2 ** scale);
}

function withAtMost(maxSize: number, tally: ExponentialTally): ExponentialTally {
  let { scale, offset: first } = tally;
  let last = first + tally.counts.length - 1;
  while (last - first >= maxSize) {
    [first, last] = [Math.floor(first / 2), Math.floor(last / 2)];
    scale--;
  }
  return atScale(tally, scale);
}

/** A tally has no exact lowest and highest value, but neither lies beyond the mean, and a single value is the mean. */
function minMaxOf(tally: ExponentialTally, divisor: number, mean: number, count: number): { min: number; max: number } {
  if (count === 1) return { min: mean, max: mean };
  return {
    min: Math.min(lowestValue(tally)! / divisor, mean),
    max: Math.max(highestValue(tally)! / divisor, mean),
  };
}
