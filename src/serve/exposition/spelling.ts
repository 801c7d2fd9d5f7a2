/** Names, labels and values of the exposition, spelled as OpenTelemetry's PrometheusSerializer spells them. */
import { type Attributes, type AttributeValue, diag } from '@opentelemetry/api';
import type { MetricData } from '@opentelemetry/sdk-metrics';
import type { Metric } from '../../mapping/index.js';
import { DataPointType } from '../../instrumentation/sdk-enums.js';

/** A metric in the exposition, without its points. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly unit: string;
  readonly type: 'counter' | 'gauge' | 'histogram' | 'untyped';
}

/** Families of metrics, kept from page to page: a wrong name is logged once. */
export class FamilyNames {
  #before = new Map<string, Family | undefined>();
  #now = new Map<string, Family | undefined>();
  #metrics: readonly Metric[] = [];
  #ofMetrics: readonly (Family | undefined)[] = [];

  /** Returns undefined for a metric without a name. */
  of(metric: MetricData): Family | undefined {
    const { descriptor, dataPointType } = metric;
    const { name, description, unit } = descriptor;
    const key = JSON.stringify([name, description, unit, dataPointType, 'isMonotonic' in metric && metric.isMonotonic]);
    if (this.#now.has(key)) return this.#now.get(key);
    const family = this.#before.has(key) ? this.#before.get(key) : familyOf(metric);
    this.#now.set(key, family);
    return family;
  }

  /** The same for all metrics of agents, which are one list from page to page. */
  ofMetrics(metrics: readonly Metric[]): readonly (Family | undefined)[] {
    if (metrics !== this.#metrics) {
      this.#metrics = metrics;
      this.#ofMetrics = metrics.map((metric) => named(metric, metric.kind === 'updowncounter' ? 'gauge' : metric.kind));
    }
    return this.#ofMetrics;
  }

  /** Forgets metrics that were not on the page. */
  endPage(): void {
    this.#before = this.#now;
    this.#now = new Map();
  }
}

export function familyOf(metric: MetricData): Family | undefined {
  const family = named(metric.descriptor, familyType(metric));
  if (family?.type === 'untyped') {
    diag.error(`Unrecognizable DataPointType: ${metric.dataPointType} for metric "${family.name}"`);
  }
  return family;
}

/** Returns undefined, and logs why, if the metric has no name that Prometheus takes. */
function named(
  { name: given, description, unit }: Pick<MetricData['descriptor'], 'name' | 'description' | 'unit'>,
  type: Family['type'],
): Family | undefined {
  const spelled = promName(escaped(given));
  if (spelled === '' || spelled === '_') {
    const result = spelled === '' ? 'empty name' : 'an invalid name: "_"';
    diag.error(`Normalization for metric "${given}" resulted in ${result}`);
    return undefined;
  }
  const started = /^[0-9]/.test(spelled) ? `_${spelled}` : spelled;
  const name = type === 'counter' && !started.endsWith('_total') ? `${started}_total` : started;
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

/**
 * Returns one label for each name, because Prometheus drops a page with one twice. By the specification, values of attributes
 * with the same spelling are joined, in the order of their own names. Names that options give are checked before:
 * takenAttributeName().
 */
export function labelsOf(attributes: Attributes): Label[] {
  const labels = Object.entries(attributes).map(labelOf);
  if (new Set(labels.map(([name]) => name)).size === labels.length) return labels;
  const joined = new Map<string, string>();
  for (const key of Object.keys(attributes).sort()) {
    const [name, value] = labelOf([key, attributes[key]]);
    const before = joined.get(name);
    joined.set(name, before === undefined ? value : `${before};${value}`);
  }
  return [...joined];
}

/** A name that begins with a digit, or is empty, is none in Prometheus. The prefix is that of its receiver for OTLP. */
function labelOf([key, value]: [string, AttributeValue | undefined]): Label {
  const name = promName(key);
  return [/^([0-9]|$)/.test(name) ? `key_${name}` : name, labelValue(value)];
}

function labelValue(value: AttributeValue | undefined = ''): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Escapes text of a comment. */
export function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

/** Escapes text that stands between quotation marks, or could. */
export function quoted(text: string): string {
  return escaped(text).replaceAll('"', '\\"');
}

/** Returns the labels as in braces, without them. */
export function labelsText(labels: readonly Label[]): string {
  return labels.map(([name, value]) => `${name}="${quoted(value)}"`).join(',');
}

export function valueText(value: number): string {
  if (value === Infinity) return '+Inf';
  return value === -Infinity ? '-Inf' : `${value}`;
}

/**
 * Returns name and type of a family in OpenMetrics, where a counter has the name of its series without `_total`. If another
 * family has this name, as NIXL's gauge agent_xfer_time beside agent_xfer_time_total, its series keeps its name, and the
 * family has the type `unknown`. `names`: of all families on the page.
 */
export function openMetricsHead({ name, type }: Family, names: ReadonlySet<string>): { name: string; type: string } {
  const end = type === 'counter' ? '_total' : name === 'target_info' ? '_info' : '';
  const base = name.slice(0, name.length - end.length);
  if (end === '') return { name, type: type === 'untyped' ? 'unknown' : type };
  if (base === '' || names.has(base)) return { name, type: 'unknown' };
  return { name: base, type: end === '_info' ? 'info' : type };
}

/** Returns a bound in OpenMetrics' canonical form: 10.0, 1e+06, 1e-05, +Inf. */
export function openMetricsBound(bound: number): string {
  if (!Number.isFinite(bound)) return valueText(bound);
  const [digits, exponent] = bound.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power < -4 || power >= 6) return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  return Number.isInteger(bound) ? `${bound}.0` : `${bound}`;
}
