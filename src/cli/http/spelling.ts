/** Names, labels and values of the exposition, spelled as OpenTelemetry's PrometheusSerializer spells them. */
import { type Attributes, type AttributeValue, diag } from '@opentelemetry/api';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { DataPointType } from '../../instrumentation/sdk-enums.js';

/** A metric in the exposition, without its points. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly unit: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'untyped';
}

/** Returns undefined, and logs why, if the metric has no name that Prometheus takes. */
export function familyOf(metric: MetricData): Family | undefined {
  const { name: given, description, unit } = metric.descriptor;
  const spelled = promName(escaped(given));
  if (spelled === '' || spelled === '_') {
    const result = spelled === '' ? 'empty name' : 'an invalid name: "_"';
    diag.error(`Normalization for metric "${given}" resulted in ${result}`);
    return undefined;
  }
  const type = familyType(metric);
  const started = /^[0-9]/.test(spelled) ? `_${spelled}` : spelled;
  const name = type === 'counter' && !started.endsWith('_total') ? `${started}_total` : started;
  if (type === 'untyped') diag.error(`Unrecognizable DataPointType: ${metric.dataPointType} for metric "${name}"`);
  return { name, help: description || 'description missing', unit, type };
}

function familyType(metric: MetricData): Family['type'] {
  switch (metric.dataPointType) {
    case DataPointType.SUM:
      return metric.isMonotonic ? 'counter' : 'gauge';
    case DataPointType.GAUGE:
      return 'gauge';
    case DataPointType.HISTOGRAM:
      return 'histogram';
    default:
      return 'untyped';
  }
}

export function promName(name: string): string {
  return name.replace(/[^a-z0-9_]/gi, '_').replace(/_{2,}/g, '_');
}

export type Label = readonly [name: string, value: string];

export function labelsOf(attributes: Attributes): Label[] {
  return Object.entries(attributes).map(([key, value]) => [promName(key), labelValue(value)]);
}

function labelValue(value: AttributeValue | undefined = ''): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Escapes text of a comment. */
export function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** Returns the labels as in braces, without them. */
export function labelsText(labels: readonly Label[]): string {
  return labels.map(([name, value]) => `${name}="${escaped(value).replaceAll('"', '\\"')}"`).join(',');
}

export function valueText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : `${value}`;
}
