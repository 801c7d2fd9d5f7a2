/** Keeps from page to page what a format makes of each metric. */
import type { MetricData } from '@opentelemetry/sdk-metrics';
import { type Family, familyOf } from './spelling.js';

interface Entry<Kept> {
  readonly metric: MetricData;
  readonly kept: Kept | undefined;
  /** Number of the last page that it was on. */
  page: number;
}

export class KeptFamilies<Kept> {
  readonly #make: (family: Family, metric: MetricData) => Kept;
  /** By name of the metric. */
  readonly #entries = new Map<string, Entry<Kept>>();
  #page = 0;

  constructor(make: (family: Family, metric: MetricData) => Kept) {
    this.#make = make;
  }

  /** Returns what is kept of the metric; undefined for one without a name. */
  of(metric: MetricData): Kept | undefined {
    const { name } = metric.descriptor;
    let entry = this.#entries.get(name);
    if (entry === undefined || !isSameFamily(entry.metric, metric)) {
      const family = familyOf(metric);
      entry = { metric: withoutPoints(metric), kept: family && this.#make(family, metric), page: this.#page };
      this.#entries.set(name, entry);
    }
    entry.page = this.#page;
    return entry.kept;
  }

  /** Forgets metrics that were not on the page. */
  endPage(): void {
    for (const [name, { page }] of this.#entries) if (page !== this.#page) this.#entries.delete(name);
    this.#page++;
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
