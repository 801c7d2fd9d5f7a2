/** Reads Prometheus' protobuf exposition with protobufjs, and renders it as text. */
import protobuf from 'protobufjs';

/** Series whose values change between two scrapes although no event arrives. */
export const CHANGING = /^(nixl_(collector|agent_idle|time|ring_(full_time|utilization)|exporter)|process_)/;

/** A decoded family. Fields that are not in the message are absent. */
export interface Family {
  name: string;
  help: string;
  type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM';
  metric?: Metric[];
  unit?: string;
}

interface Metric {
  label?: { name: string; value: string }[];
  gauge?: { value: number };
  counter?: { value: number; createdTimestamp: Timestamp };
  histogram?: Histogram;
}

export interface Histogram {
  sampleCount: number;
  sampleSum?: number;
  bucket?: { cumulativeCount: number; upperBound: number }[];
  schema?: number;
  zeroCount?: number;
  positiveSpan?: { offset: number; length: number }[];
  positiveDelta?: number[];
  createdTimestamp: Timestamp;
}

interface Timestamp {
  seconds: number;
  nanos: number;
}

const type = protobuf
  .loadSync(new URL('prometheus-client.proto', import.meta.url).pathname)
  .lookupType('io.prometheus.client.MetricFamily');

/** Decodes families, each of which follows its length. */
export function familiesIn(bytes: Uint8Array): Family[] {
  const reader = protobuf.Reader.create(bytes);
  const families: Family[] = [];
  while (reader.pos < reader.len) {
    families.push(type.toObject(type.decodeDelimited(reader), { longs: Number, enums: String }) as Family);
  }
  return families;
}

/** Returns the lines of the text exposition with the same series, without units. */
export function textOf({ name, help, type, metric = [] }: Family): string[] {
  const head = [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type.toLowerCase()}`];
  return [...head, ...metric.flatMap((one) => linesOf(name, one))];
}

function linesOf(name: string, { label = [], gauge, counter, histogram }: Metric): string[] {
  const labels = label.map(({ name, value }): [string, string] => [name, value]);
  if (histogram === undefined) return [lineOf(name, labels, (counter ?? gauge)!.value)];
  const { sampleCount, sampleSum, bucket = [] } = histogram;
  const infinite =
    bucket.at(-1)?.upperBound === Infinity ? [] : [{ upperBound: Infinity, cumulativeCount: sampleCount }];
  return [
    lineOf(`${name}_count`, labels, sampleCount),
    ...(sampleSum === undefined ? [] : [lineOf(`${name}_sum`, labels, sampleSum)]),
    ...[...bucket, ...infinite].map(({ upperBound, cumulativeCount }) =>
      lineOf(`${name}_bucket`, [...labels, ['le', textOfNumber(upperBound)]], cumulativeCount),
    ),
  ];
}

function lineOf(name: string, labels: [name: string, value: string][], value: number): string {
  const pairs = labels.map(([key, text]) => `${key}="${escaped(text).replaceAll('"', '\\"')}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${textOfNumber(value)}`;
}

function textOfNumber(value: number): string {
  return value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : `${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** Returns the count of each bucket that is not empty, by its index in Prometheus' numbering. */
export function nativeCounts({ positiveSpan = [], positiveDelta = [] }: Histogram): Map<number, number> {
  const counts = new Map<number, number>();
  const deltas = positiveDelta.values();
  let index = 0;
  let count = 0;
  for (const { offset, length } of positiveSpan) {
    index += offset;
    for (let i = 0; i < length; i++, index++) {
      count += deltas.next().value!;
      if (count !== 0) counts.set(index, count);
    }
  }
  if (deltas.next().done !== true) throw new Error('more counts than the spans have buckets');
  return counts;
}
