/** Metrics that come straight from the event table: a series of its own for every known event type. */
import { categoryName } from './categories.js';
import { EVENTS, type EventRow, type MetricRef } from './events.js';
import type { Distribution, Exact, HistogramMetric, Metric, NumberMetric, Point } from './metric.js';
import type { Labels, Naming } from './naming.js';
import { eventOfType } from './tally.js';

const MICROSECONDS_PER_SECOND = 1e6;
/** One object per category, shared by all points: whoever merges attributes need do it only once per object. */
const categoryLabels = new Map(EVENTS.map(({ category }) => [category, { category: categoryName(category) }]));

/** Naming `nixl` keeps NIXL's microseconds and leaves units out: a backend would append them to NIXL's names. */
function unitOf(row: EventRow, naming: Naming): { unit: string; divisor: number } {
  if (naming === 'nixl') return { unit: '', divisor: 1 };
  return row.unit === 'us' ? { unit: 's', divisor: MICROSECONDS_PER_SECOND } : { unit: row.unit, divisor: 1 };
}

function labelsOf(row: EventRow, ref: MetricRef, naming: Naming): Labels {
  const own = ref.labels ?? {};
  if (naming === 'otel') return own;
  const category = categoryLabels.get(row.category)!;
  return ref.labels === undefined ? category : { ...category, ...own };
}

function sumPoint(type: number, labels: Labels): Point<Exact> {
  return { labels, read: (agent) => eventOfType(agent, type)?.sum };
}

function lastPoint(type: number, labels: Labels): Point<Exact> {
  return { labels, read: (agent) => eventOfType(agent, type)?.last };
}

function distributionPoint(type: number, labels: Labels): Point<Distribution> {
  return {
    labels,
    read(agent) {
      const event = eventOfType(agent, type);
      if (event?.histogram === undefined) return undefined;
      return { bounds: event.histogram.bounds, counts: event.histogram.counts, sum: event.sum };
    },
  };
}

function metricsOfRow(row: EventRow, naming: Naming): Metric[] {
  const { counter, gauge, histogram } = row[naming];
  const metrics: Metric[] = [];
  const base = (ref: MetricRef) => ({ name: ref.name, description: ref.description, ...unitOf(row, naming) });
  if (counter !== undefined) {
    const points = [sumPoint(row.type, labelsOf(row, counter, naming))];
    metrics.push({ ...base(counter), kind: 'counter', points } satisfies NumberMetric);
  }
  if (gauge !== undefined) {
    const points = [lastPoint(row.type, labelsOf(row, gauge, naming))];
    metrics.push({ ...base(gauge), kind: 'gauge', points } satisfies NumberMetric);
  }
  if (histogram !== undefined) {
    const points = [distributionPoint(row.type, labelsOf(row, histogram, naming))];
    metrics.push({ ...base(histogram), kind: 'histogram', points, recordsType: row.type } satisfies HistogramMetric);
  }
  return metrics;
}

/** Rows that name the same metric add their points to it. */
export function eventMetrics(naming: Naming, rows: readonly EventRow[] = EVENTS): Metric[] {
  const byName = new Map<string, Metric>();
  for (const metric of rows.flatMap((row) => metricsOfRow(row, naming))) {
    const before = byName.get(metric.name);
    byName.set(metric.name, before === undefined ? metric : joined(before, metric));
  }
  return [...byName.values()];
}

function joined(a: Metric, b: Metric): Metric {
  if (a.kind === 'histogram' && b.kind === 'histogram') {
    const { name, description, unit, divisor, kind } = a;
    // Without recordsType: with two types in one histogram no single one feeds it any more.
    return { name, description, unit, divisor, kind, points: [...a.points, ...b.points] };
  }
  if (a.kind !== 'histogram' && a.kind === b.kind) return { ...a, points: [...a.points, ...b.points] };
  throw new TypeError(`event table: ${a.name} is both ${a.kind} and ${b.kind}`);
}
