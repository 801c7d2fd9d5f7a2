/**
 * Messages of Prometheus' protobuf exposition, as far as this package has their fields. The numbers of the fields are those of
 * https://github.com/prometheus/client_model/blob/master/io/prometheus/client/metrics.proto.
 */
import type { Attributes, HrTime } from '@opentelemetry/api';
import type { DataPoint } from '@opentelemetry/sdk-metrics';
import type { PageHistogram } from '../../instrumentation/producer/metric-data.js';
import { writeNative } from './native-buckets.js';
import { ProtobufBytes, varintLength } from './protobuf-bytes.js';
import { type Family, labelsOf } from './spelling.js';

/** Tags, each the number of a field times 8 and its wire type. */
const FAMILY = { name: 0x0a, help: 0x12, type: 0x18, metric: 0x22 } as const;
const METRIC = { label: 0x0a, gauge: 0x12, counter: 0x1a, histogram: 0x3a } as const;
const LABEL = { name: 0x0a, value: 0x12 } as const;
const COUNTER_VALUE = { value: 0x09, created: 0x1a } as const;
const GAUGE_VALUE = { value: 0x09 } as const;
const HISTOGRAM_VALUE = { count: 0x08, sum: 0x11, bucket: 0x1a, created: 0x7a } as const;
const BUCKET = { cumulativeCount: 0x08, upperBound: 0x11 } as const;
const TIMESTAMP = { seconds: 0x08, nanos: 0x10 } as const;
const DOUBLE_FIELD_BYTES = 9;

/** Type of a family: its number, and the field of a metric that holds the value. */
export interface FamilyType<Value> {
  readonly number: number;
  readonly tag: number;
  readonly write: (point: DataPoint<Value>, out: ProtobufBytes) => void;
}

export const COUNTER: FamilyType<number> = { number: 0, tag: METRIC.counter, write: writeCounter };
export const GAUGE: FamilyType<number> = { number: 1, tag: METRIC.gauge, write: writeGauge };
export const HISTOGRAM: FamilyType<PageHistogram> = { number: 4, tag: METRIC.histogram, write: writeHistogram };

/** Writes the fields of a family, except its metrics and its unit. Prometheus refuses a name that does not end in the unit. */
export function writeFamilyHead({ name, help }: Family, { number }: FamilyType<never>, out: ProtobufBytes): void {
  out.text(FAMILY.name, name);
  out.text(FAMILY.help, help);
  out.varint(FAMILY.type, number);
}

/** The value of one point: its length must be known before it is on the page. */
const valueBytes = new ProtobufBytes();

/** Place of a number in the message that writeMetric() returns the place of: behind its tag. */
export const NUMBER_IN_VALUE = 1;

/** Writes a point as a metric of its family. `labels`: as labelBytes() returns them. @returns the place of its value's message. */
export function writeMetric<Value>(
  { tag, write }: FamilyType<Value>,
  labels: Uint8Array,
  point: DataPoint<Value>,
  out: ProtobufBytes,
): number {
  valueBytes.clear();
  write(point, valueBytes);
  out.varint(FAMILY.metric, labels.length + 1 + varintLength(valueBytes.length) + valueBytes.length);
  out.append(labels);
  out.message(tag, valueBytes);
  return out.length - valueBytes.length;
}

/** Returns the labels as fields of a metric. */
export function labelBytes(attributes: Attributes): Uint8Array {
  const fields = new ProtobufBytes();
  for (const [name, value] of labelsOf(attributes)) {
    const label = new ProtobufBytes();
    label.text(LABEL.name, name);
    label.text(LABEL.value, value);
    fields.field(METRIC.label, label.bytes());
  }
  return fields.bytes().slice();
}

function writeCounter({ value, startTime }: DataPoint<number>, out: ProtobufBytes): void {
  out.double(COUNTER_VALUE.value, value);
  writeTimestamp(COUNTER_VALUE.created, startTime, out);
}

function writeGauge({ value }: DataPoint<number>, out: ProtobufBytes): void {
  out.double(GAUGE_VALUE.value, value);
}

/** Writes both kinds of buckets: a scraper that does not store native histograms takes the others. */
function writeHistogram({ value, startTime }: DataPoint<PageHistogram>, out: ProtobufBytes): void {
  const { count, sum, buckets, exponential } = value;
  out.varint(HISTOGRAM_VALUE.count, count);
  if (sum !== undefined) out.double(HISTOGRAM_VALUE.sum, sum);
  const { boundaries, counts } = buckets;
  let cumulative = 0;
  for (let i = 0; i < boundaries.length; i++) {
    cumulative += counts[i]!;
    out.varint(HISTOGRAM_VALUE.bucket, 1 + varintLength(cumulative) + DOUBLE_FIELD_BYTES);
    out.varint(BUCKET.cumulativeCount, cumulative);
    out.double(BUCKET.upperBound, boundaries[i]!);
  }
  if (exponential !== undefined) writeNative(exponential, out);
  writeTimestamp(HISTOGRAM_VALUE.created, startTime, out);
}

function writeTimestamp(tag: number, [seconds, nanoseconds]: HrTime, out: ProtobufBytes): void {
  out.varint(tag, 2 + varintLength(seconds) + varintLength(nanoseconds));
  out.varint(TIMESTAMP.seconds, seconds);
  out.varint(TIMESTAMP.nanos, nanoseconds);
}
