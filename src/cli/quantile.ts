/** Percentiles out of histograms. Pure, and without imports: the live page has it too. */

/**
 * Within a bucket values count as evenly spread, as Prometheus's histogram_quantile() has it, so that both tell the same.
 * What lies above the last bound is told as that bound. Undefined when there is nothing.
 *
 * @param counts per bucket of `bounds` (upper, increasing), and one more for what is above.
 * @param q 0 to 1
 */
export function quantile(bounds: readonly number[], counts: readonly number[], q: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total <= 0 || bounds.length === 0) return undefined;
  const rank = q * total;
  let below = 0;
  for (let i = 0; i < bounds.length; i++) {
    const count = counts[i] ?? 0;
    if (count > 0 && below + count >= rank) {
      const from = bounds[i - 1] ?? 0;
      return from + (bounds[i]! - from) * Math.max(0, (rank - below) / count);
    }
    below += count;
  }
  return bounds.at(-1);
}

/** Bucket by bucket; what fell has begun anew. */
export function bucketIncrease(now: readonly number[], before: readonly number[] | undefined): number[] {
  return now.map((count, i) => {
    const then = before?.[i] ?? 0;
    return count >= then ? count - then : count;
  });
}

export function bucketSum(all: readonly (readonly number[])[]): number[] {
  const sum: number[] = [];
  for (const counts of all) counts.forEach((count, i) => (sum[i] = (sum[i] ?? 0) + count));
  return sum;
}
