/** Buckets of Prometheus' native histograms: spans of buckets, and counts as differences. Pure. */
import type { ExponentialTally } from '../../exponential.js';

/** Consecutive buckets. `offset`: empty buckets since the span before, for the first span the index of its first bucket. */
export interface BucketSpan {
  readonly offset: number;
  length: number;
}

interface NativeBuckets {
  readonly spans: BucketSpan[];
  /** Count of each bucket of the spans, less the count of the bucket before. */
  readonly deltas: number[];
}

/** A further span takes more bytes than up to two empty buckets. */
const MAX_EMPTY = 2;

/** Returns a span without buckets if there are no counts: without any span, a histogram is not native. */
export function nativeBuckets({ offset, counts }: Pick<ExponentialTally, 'offset' | 'counts'>): NativeBuckets {
  const spans: BucketSpan[] = [];
  const deltas: number[] = [];
  let before = 0;
  let next = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]!;
    if (count === 0) continue;
    // Prometheus numbers a bucket by its upper bound, OpenTelemetry by its lower.
    const index = offset + i + 1;
    let span = spans.at(-1);
    if (span === undefined || index - next > MAX_EMPTY) {
      spans.push((span = { offset: index - next, length: 0 }));
      next = index;
    }
    for (; next < index; next++, span.length++) {
      deltas.push(-before);
      before = 0;
    }
    deltas.push(count - before);
    before = count;
    span.length++;
    next++;
  }
  if (spans.length === 0) spans.push({ offset: 0, length: 0 });
  return { spans, deltas };
}
