/** Keeps from page to page what a format makes of each metric. */
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { type Family, familyOf } from './spelling.js';

interface Entry<Kept> {
  readonly metric: MetricData;
  readonly kept: Kept | undefined;
}

export class KeptFamilies<Kept> {
  readonly #make: (family: Family, metric: MetricData) => Kept;
  /** By name of the metric: those of the last page, and those of this page so far. */
  #last = new Map<string, Entry<Kept>>();
  #now = new Map<string, Entry<Kept>>();

  constructor(make: (family: Family, metric: MetricData) => Kept) {
    this.#make = make;
  }

  /** Returns what is kept of the metric; undefined for one without a name. */
  of(metric: MetricData): Kept | undefined {
    const { name } = metric.descriptor;
    let entry = this.#last.get(name);
    if (entry === undefined || !isSameFamily(entry.metric, metric)) {
      const family = familyOf(metric);
      entry = { metric: withoutPoints(metric), kept: family && this.#make(family, metric) };
    }
    this.#now.set(name, entry);
    return entry.kept;
  }

  /** Forgets metrics that were not on the page. */
  endPage(): void {
    this.#last = this.#now;
    this.#now = new Map();
  }
}

function withoutPoints(metric: MetricData): MetricData {
  return { ...metric, descriptor: { ...metric.descriptor }, dataPoints: [] };
}

function isSameFamily(a: MetricData, b: MetricData): boolean {
  return (
    a.descriptor.description === b.descriptor.description &&
    a.descriptor.unit === b.descriptor.unit &&
    a.dataPointType === b.dataPointType &&
    isMonotonic(a) === isMonotonic(b)
  );
}

function isMonotonic(metric: MetricData): boolean {
  return 'isMonotonic' in metric && metric.isMonotonic;
}
