/** Histograms of an exposition: counts between explicit bounds, for exporters that have nothing better. Pure. */

/** `counts[i]` holds values <= `bounds[i]`, the last count all values above. */
export interface Buckets {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

/** Returns the difference per bucket. If one count fell, the whole histogram restarted. */
export function bucketsSince(before: Buckets | undefined, now: Buckets): Buckets {
  const earlier = before?.counts;
  if (earlier?.length !== now.counts.length || now.counts.some((count, i) => count < earlier[i]!)) return now;
  return { bounds: now.bounds, counts: now.counts.map((count, i) => count - earlier[i]!) };
}

/** Returns the sums per bucket; undefined without histograms, and if their bounds differ. */
export function bucketsSum(all: readonly Buckets[]): Buckets | undefined {
  const [first, ...others] = all;
  if (first === undefined) return undefined;
  const isAlike = ({ bounds }: Buckets): boolean =>
    bounds.length === first.bounds.length && bounds.every((bound, i) => bound === first.bounds[i]);
  if (!others.every(isAlike)) return undefined;
  return {
    bounds: first.bounds,
    counts: first.counts.map((_, i) => all.reduce((sum, one) => sum + one.counts[i]!, 0)),
  };
}

export interface Quantile {
  readonly value: number;
  /** `below`: the value lies in the first bucket, `above`: above the last bound. `value` is then the only known bound. */
  readonly limit?: 'below' | 'above';
}

/**
 * Estimates the value below which a share of all values lies, 0 < share <= 1. Values count as evenly spread within a bucket,
 * as in Prometheus's histogram_quantile(), but not within the first one: it spans all orders of magnitude.
 * @returns undefined without values.
 */
export function quantile({ bounds, counts }: Buckets, share: number): Quantile | undefined {
  const total = counts.reduce((all, count) => all + count, 0);
  if (total <= 0) return undefined;
  const rank = share * total;
  let reached = 0;
  for (const [i, upper] of bounds.entries()) {
    const count = counts[i]!;
    if (count > 0 && reached + count >= rank) {
      if (i === 0) return { value: upper, limit: 'below' };
      const lower = bounds[i - 1]!;
      return { value: lower + ((upper - lower) * (rank - reached)) / count };
    }
    reached += count;
  }
  return { value: bounds.at(-1) ?? 0, limit: 'above' };
}
