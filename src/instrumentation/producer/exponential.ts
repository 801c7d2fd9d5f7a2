/** Exponential histograms of OpenTelemetry, made of the tallies' own. Pure. */
import type { ExponentialTally } from '../../exponential.js';

/**
 * Moves all values to buckets of a unit that is `divisor` times larger. Buckets cannot be divided, so they move by a whole
 * number of buckets: at scale 4, microseconds become seconds by 319 in place of 318.9 buckets, and each bound moves by 0.41 %.
 */
export function divided(tally: ExponentialTally, divisor: number): ExponentialTally {
  return { ...tally, offset: tally.offset - Math.round(Math.log2(divisor) * 2 ** tally.scale) };
}
