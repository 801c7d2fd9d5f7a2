/** Buckets of Prometheus' native histograms: spans of buckets, and counts as differences. */
import type { ExponentialTally } from '../../exponential.js';
import { ProtobufBytes, varintLength, zigZag } from './protobuf-bytes.js';

/** Tags of a histogram's fields, as in client-model.ts. */
const HISTOGRAM = { schema: 0x28, zeroCount: 0x38, positiveSpan: 0x62, positiveDelta: 0x6a } as const;
const SPAN = { offset: 0x08, length: 0x10 } as const;

/** A further span takes more bytes than up to two empty buckets. */
const MAX_EMPTY = 2;

/** Count of each bucket of the spans, less the count of the bucket before. */
const deltas = new ProtobufBytes();

/**
 * Without a zero threshold, which is 0: only values of 0 are in the zero bucket. Without counts it writes a span without
 * buckets: without any span, a histogram is not native.
 */
export function writeNative({ scale, zeroCount, offset, counts }: ExponentialTally, out: ProtobufBytes): void {
  out.signed(HISTOGRAM.schema, scale);
  out.varint(HISTOGRAM.zeroCount, zeroCount);
  deltas.clear();
  /** Buckets so far, and how many of them are in earlier spans. */
  let buckets = 0;
  let written = 0;
  let before = 0;
  /** Empty buckets between the span before and this one; for the first span the index of its first bucket. */
  let gap = 0;
  let next = 0;
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i]!;
    if (count === 0) continue;
    // Prometheus numbers a bucket by its upper bound, OpenTelemetry by its lower.
    const index = offset + i + 1;
    if (buckets === 0 || index - next > MAX_EMPTY) {
      if (buckets > 0) writeSpan(gap, buckets - written, out);
      written = buckets;
      gap = index - next;
      next = index;
    }
    for (; next < index; next++, buckets++) {
      deltas.packed(-before);
      before = 0;
    }
    deltas.packed(count - before);
    before = count;
    next++;
    buckets++;
  }
  writeSpan(gap, buckets - written, out);
  if (buckets > 0) out.message(HISTOGRAM.positiveDelta, deltas);
}

function writeSpan(offset: number, length: number, out: ProtobufBytes): void {
  out.varint(HISTOGRAM.positiveSpan, 2 + varintLength(zigZag(offset)) + varintLength(length));
  out.signed(SPAN.offset, offset);
  out.varint(SPAN.length, length);
}
