/**
 * Messages of Prometheus' protobuf exposition, as far as this package has their fields. The numbers of the fields are those of
 * https://github.com/prometheus/client_model/blob/master/io/prometheus/client/metrics.proto.
 */
import type { Attributes, HrTime } from '@opentelemetry/api';
import type { DataPoint } from '@opentelemetry/sdk-metrics';
import { PbfWriter } from 'pbf';
import type { ExponentialTally } from '../../exponential.js';
import type { PageHistogram } from '../../instrumentation/producer/metric-data.js';
import { type BucketSpan, nativeBuckets } from './native-buckets.js';
import { type Family, type Label, labelsOf } from './spelling.js';

/** Type of a family: its number, and the field of a metric that holds the value. */
export interface FamilyType<Value> {
  readonly number: number;
  readonly field: number;
  readonly write: (point: DataPoint<Value>, writer: PbfWriter) => void;
}

export const COUNTER: FamilyType<number> = { number: 0, field: 3, write: writeCounter };
export const GAUGE: FamilyType<number> = { number: 1, field: 2, write: writeGauge };
export const HISTOGRAM: FamilyType<PageHistogram> = { number: 4, field: 7, write: writeHistogram };

/** Writes the fields of a family, except its metrics and its unit. Prometheus refuses a name that does not end in the unit. */
export function writeFamilyHead({ name, help }: Family, { number }: FamilyType<never>, writer: PbfWriter): void {
  writer.writeStringField(1, name);
  writer.writeStringField(2, help);
  writer.writeVarintField(3, number);
}

/** Returns a function that writes a point as a metric of its family. Its labels are bytes of labelBytes(). */
export function metricWriter<Value>({ field, write }: FamilyType<Value>) {
  const writeFields = ([labels, point]: readonly [Uint8Array, DataPoint<Value>], writer: PbfWriter): void => {
    writer.realloc(labels.length);
    writer.buf.set(labels, writer.pos);
    writer.pos += labels.length;
    writer.writeMessage(field, write, point);
  };
  return (labels: Uint8Array, point: DataPoint<Value>, writer: PbfWriter): void =>
    writer.writeMessage(4, writeFields, [labels, point]);
}

/** Returns the labels as fields of a metric. */
export function labelBytes(attributes: Attributes): Uint8Array {
  const writer = new PbfWriter();
  for (const label of labelsOf(attributes)) writer.writeMessage(1, writeLabel, label);
  return writer.finish().slice();
}

function writeLabel([name, value]: Label, writer: PbfWriter): void {
  writer.writeStringField(1, name);
  writer.writeStringField(2, value);
}

function writeCounter({ value, startTime }: DataPoint<number>, writer: PbfWriter): void {
  writer.writeDoubleField(1, value);
  writer.writeMessage(3, writeTimestamp, startTime);
}

function writeGauge({ value }: DataPoint<number>, writer: PbfWriter): void {
  writer.writeDoubleField(1, value);
}

/** Writes both kinds of buckets: a scraper that does not store native histograms takes the others. */
function writeHistogram({ value, startTime }: DataPoint<PageHistogram>, writer: PbfWriter): void {
  const { count, sum, buckets, exponential } = value;
  writer.writeVarintField(1, count);
  if (sum !== undefined) writer.writeDoubleField(2, sum);
  let cumulative = 0;
  buckets.boundaries.forEach((bound, i) => {
    cumulative += buckets.counts[i]!;
    writer.writeMessage(3, writeBucket, [cumulative, bound]);
  });
  if (exponential !== undefined) writeNative(exponential, writer);
  writer.writeMessage(15, writeTimestamp, startTime);
}

function writeBucket([count, bound]: readonly [cumulativeCount: number, bound: number], writer: PbfWriter): void {
  writer.writeVarintField(1, count);
  writer.writeDoubleField(2, bound);
}

/** Without a zero threshold, which is 0: only values of 0 are in the zero bucket. */
function writeNative(exponential: ExponentialTally, writer: PbfWriter): void {
  const { spans, deltas } = nativeBuckets(exponential);
  writer.writeSVarintField(5, exponential.scale);
  writer.writeVarintField(7, exponential.zeroCount);
  for (const span of spans) writer.writeMessage(12, writeSpan, span);
  writer.writePackedSVarint(13, deltas);
}

function writeSpan({ offset, length }: BucketSpan, writer: PbfWriter): void {
  writer.writeSVarintField(1, offset);
  writer.writeVarintField(2, length);
}

function writeTimestamp([seconds, nanoseconds]: HrTime, writer: PbfWriter): void {
  writer.writeVarintField(1, seconds);
  writer.writeVarintField(2, nanoseconds);
}
