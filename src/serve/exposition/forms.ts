/** Forms of the exposition: what each writes of a family, a number and a histogram. */
import type { Attributes, HrTime } from '@opentelemetry/api';
import { OPENMETRICS_TEXT, PROMETHEUS_PROTOBUF, PROMETHEUS_TEXT } from '../http/accept.js';
import {
  escaped,
  type Family,
  labelsOf,
  labelsText,
  openMetricsBound,
  openMetricsHead,
  quoted,
  valueText,
} from './spelling.js';
import { How, type Source, type TemplateWriter, varintBytes } from './template.js';

/** Numbers of a histogram. A number with several sources is their sum. */
export interface HistogramSources {
  /** Upper bounds of the buckets. The last one may be infinite, or absent. */
  readonly bounds: readonly number[];
  /** Cumulative counts. */
  readonly buckets: readonly Source[];
  readonly count: Source | undefined;
  readonly sum: Source | undefined;
  /** The same values in exponential buckets. */
  readonly exponential: Source | undefined;
}

export interface Form<Labels = unknown> {
  readonly contentType: string;
  /** True for a form that has exponential histograms. */
  readonly isExponential: boolean;
  /** True if each family is a message after its length. */
  readonly isDelimited: boolean;
  /** Ends of a page, and of one without metrics. */
  readonly end: string;
  readonly empty: string;
  /** Returns what precedes the series of a family. `names`: of all families on the page. */
  head(family: Family, names: ReadonlySet<string>): Uint8Array;
  labels(attributes: Attributes): Labels;
  number(out: TemplateWriter, family: Family, labels: Labels, value: readonly Source[], startTime: HrTime): void;
  histogram(out: TemplateWriter, family: Family, labels: Labels, value: HistogramSources, startTime: HrTime): void;
}

/** Writes lines of text: of OpenTelemetry's PrometheusSerializer, or of OpenMetrics. */
abstract class Lines implements Form<string> {
  abstract readonly contentType: string;
  abstract readonly end: string;
  abstract readonly empty: string;
  readonly isExponential = false;
  readonly isDelimited = false;

  abstract head(family: Family, names: ReadonlySet<string>): Uint8Array;
  abstract histogram(out: TemplateWriter, family: Family, labels: string, value: HistogramSources): void;

  labels(attributes: Attributes): string {
    return labelsText(labelsOf(attributes));
  }

  number(out: TemplateWriter, { name }: Family, labels: string, value: readonly Source[]): void {
    this.line(out, name, labels, value);
  }

  protected line(out: TemplateWriter, name: string, labels: string, value: readonly Source[] | undefined): void {
    if (value === undefined) return;
    out.text(labels === '' ? `${name} ` : `${name}{${labels}} `);
    out.number(value, How.TEXT);
    out.byte(0x0a);
  }

  protected bucketLines(
    out: TemplateWriter,
    name: string,
    labels: string,
    { bounds, buckets }: HistogramSources,
    boundText: (bound: number) => string,
  ): void {
    const others = labels === '' ? '' : `${labels},`;
    for (const [i, source] of buckets.entries()) {
      this.line(out, `${name}_bucket`, `${others}le="${boundText(bounds[i] ?? Infinity)}"`, [source]);
    }
  }
}

class Text extends Lines {
  readonly contentType = PROMETHEUS_TEXT;
  readonly end = '';
  readonly empty = '# no registered metrics\n';

  head({ name, help, unit, type }: Family): Uint8Array {
    const unitLine = unit === '' ? '' : `# UNIT ${name} ${escaped(unit)}\n`;
    return Buffer.from(`# HELP ${name} ${escaped(help)}\n${unitLine}# TYPE ${name} ${type}\n`);
  }

  histogram(out: TemplateWriter, { name }: Family, labels: string, value: HistogramSources): void {
    this.line(out, `${name}_count`, labels, value.count && [value.count]);
    this.line(out, `${name}_sum`, labels, value.sum && [value.sum]);
    this.bucketLines(out, name, labels, value, valueText);
  }
}

class OpenMetrics extends Lines {
  readonly contentType = OPENMETRICS_TEXT;
  readonly end = '# EOF\n';
  readonly empty = '';

  /** Without UNIT: a name must end in its unit. */
  head(family: Family, names: ReadonlySet<string>): Uint8Array {
    const { name, type } = openMetricsHead(family, names);
    return Buffer.from(`# HELP ${name} ${quoted(family.help)}\n# TYPE ${name} ${type}\n`);
  }

  /** A histogram with negative values has no sum here. */
  histogram(out: TemplateWriter, { name }: Family, labels: string, value: HistogramSources): void {
    this.bucketLines(out, name, labels, value, openMetricsBound);
    this.line(out, `${name}_count`, labels, value.count && [value.count]);
    if (!(value.bounds[0]! < 0)) this.line(out, `${name}_sum`, labels, value.sum && [value.sum]);
  }
}

/**
 * Tags of protobuf's fields, each its number times 8 and its wire type, as in
 * https://github.com/prometheus/client_model/blob/master/io/prometheus/client/metrics.proto.
 */
const FAMILY = { name: 0x0a, help: 0x12, type: 0x18, metric: 0x22 } as const;
const METRIC = { label: 0x0a, gauge: 0x12, counter: 0x1a, histogram: 0x3a } as const;
const LABEL = { name: 0x0a, value: 0x12 } as const;
const NUMBER = { value: 0x09, created: 0x1a } as const;
const HISTOGRAM = { count: 0x08, sum: 0x11, bucket: 0x1a, created: 0x7a } as const;
const BUCKET = { cumulativeCount: 0x08, upperBound: 0x11 } as const;
const TIMESTAMP = { seconds: 0x08, nanos: 0x10 } as const;
const TYPE = { counter: 0, gauge: 1, untyped: 3, histogram: 4 } as const;
const VALUE_BYTES = 9;

/** Writes Prometheus' messages: native histograms beside the others, and the time at which each count began. */
class Protobuf implements Form<Uint8Array> {
  readonly contentType = PROMETHEUS_PROTOBUF;
  readonly isExponential = true;
  readonly isDelimited = true;
  readonly end = '';
  readonly empty = '';

  /** Without the unit: Prometheus refuses a name that does not end in it. */
  head({ name, help, type }: Family): Uint8Array {
    return Buffer.concat([textField(FAMILY.name, name), textField(FAMILY.help, help), field(FAMILY.type, TYPE[type])]);
  }

  labels(attributes: Attributes): Uint8Array {
    const fields = labelsOf(attributes).map(([name, value]) =>
      message(METRIC.label, Buffer.concat([textField(LABEL.name, name), textField(LABEL.value, value)])),
    );
    return Buffer.concat(fields);
  }

  number(out: TemplateWriter, { type }: Family, labels: Uint8Array, value: readonly Source[], startTime: HrTime): void {
    const created = type === 'counter' ? message(NUMBER.created, timestamp(startTime)) : NO_BYTES;
    const length = VALUE_BYTES + created.length;
    out.byte(FAMILY.metric);
    out.varint(labels.length + 1 + 1 + length);
    out.bytes(labels);
    out.byte(type === 'counter' ? METRIC.counter : METRIC.gauge);
    out.varint(length);
    out.byte(NUMBER.value);
    out.number(value, How.EIGHT_BYTES);
    out.bytes(created);
  }

  /** With both kinds of buckets: a scraper that does not store native histograms takes the others. */
  histogram(out: TemplateWriter, _: Family, labels: Uint8Array, value: HistogramSources, startTime: HrTime): void {
    const { bounds, buckets, count, sum, exponential } = value;
    out.byte(FAMILY.metric);
    out.open();
    out.bytes(labels);
    out.byte(METRIC.histogram);
    out.open();
    out.byte(HISTOGRAM.count);
    if (count === undefined) out.varint(0);
    else out.number([count], How.VARINT);
    if (sum !== undefined) {
      out.byte(HISTOGRAM.sum);
      out.number([sum], How.EIGHT_BYTES);
    }
    for (const [i, bound] of bounds.entries()) {
      out.byte(HISTOGRAM.bucket);
      out.open();
      out.byte(BUCKET.cumulativeCount);
      out.number([buckets[i]!], How.VARINT);
      out.byte(BUCKET.upperBound);
      out.double(bound);
      out.close();
    }
    if (exponential !== undefined) out.exponential(exponential);
    out.bytes(message(HISTOGRAM.created, timestamp(startTime)));
    out.close();
    out.close();
  }
}

const NO_BYTES = Buffer.alloc(0);

function field(tag: number, value: number): Buffer {
  return Buffer.from([tag, ...varintBytes(value)]);
}

function message(tag: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([field(tag, bytes.length), bytes]);
}

function textField(tag: number, text: string): Buffer {
  return message(tag, Buffer.from(text));
}

function timestamp([seconds, nanoseconds]: HrTime): Buffer {
  return Buffer.concat([field(TIMESTAMP.seconds, seconds), field(TIMESTAMP.nanos, nanoseconds)]);
}

export const TEXT = new Text();
export const OPENMETRICS = new OpenMetrics();
export const PROTOBUF = new Protobuf();
