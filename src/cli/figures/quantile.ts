/** Percentiles of what fell into the buckets of a histogram. Pure, and imports types alone: the live page has it too. */
import type { HistogramTally } from '../../tally.js';

export type Buckets = HistogramTally;

export interface Quantile {
  readonly value: number;
  /** The value lies above the last bound, which is `value`. */
  readonly above: boolean;
}

/**
 * The value below which a share of all values lies, 0 < share <= 1. Within a bucket values are taken as evenly spread, so
 * that the answer is as exact as the bucket is wide, and the one that Prometheus's histogram_quantile() gives.
 * @returns undefined when there are no values.
 */
export function quantile({ bounds, counts }: Buckets, share: number): Quantile | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0) return undefined;
  const rank = share * total;
  let below = 0;
  for (const [i, upper] of bounds.entries()) {
    const count = counts[i]!;
    if (count > 0 && below + count >= rank) {
      const lower = i === 0 ? 0 : bounds[i - 1]!;
      return { value: lower + ((upper - lower) * (rank - below)) / count, above: false };
    }
    below += count;
  }
  return { value: bounds.at(-1) ?? 0, above: true };
}

/** What came since: of counters that began again, everything they hold now. */
export function increase(before: number | undefined, now: number): number {
  return before === undefined || now < before ? now : now - before;
}

/** As increase(), bucket by bucket: a histogram begins again as a whole. */
export function countsSince(before: readonly number[] | undefined, now: readonly number[]): readonly number[] {
  if (before?.length !== now.length || now.some((count, i) => count < before[i]!)) return now;
  return now.map((count, i) => count - before[i]!);
}

export function bucketIncrease(before: Buckets | undefined, now: Buckets | undefined): Buckets | undefined {
  return now && { bounds: now.bounds, counts: countsSince(before?.counts, now.counts) };
}

export function countsOfAll(all: readonly (readonly number[])[]): number[] {
  const sum: number[] = [];
  for (const counts of all) counts.forEach((count, i) => (sum[i] = (sum[i] ?? 0) + count));
  return sum;
}
