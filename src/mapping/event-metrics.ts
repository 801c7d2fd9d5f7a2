/** Metrics of the event table: separate series for each known event type. */
import type { Exact } from '../ground/exact.js';
import type { AgentSnapshot } from '../ground/tally.js';
import { type CustomError, errorSum } from './custom-events.js';
import { CATEGORY_LABELS } from './event-keys.js';
import { errorRow, type EventMetricRefs, type EventRow, type MetricRef } from './events.js';
import { histogramPoint, numberPoint } from './fields.js';
import type { Metric, NumberMetric, Point } from './metric.js';
import { type Labels, type Naming, NO_LABELS } from './naming.js';
import { hasErrors, type NixlRelease, RELEASES, seriesInRelease } from './releases.js';

const MICROSECONDS_PER_SECOND = 1e6;

interface Dialect {
  readonly naming: Naming;
  /** NIXL release with the names and labels of naming `nixl`. */
  readonly release: NixlRelease;
}

interface EventMetricsOptions extends Dialect {
  /** Rows of the table that have series. */
  readonly rows: readonly EventRow[];
  /** Errors that are counted beside those of the table. */
  readonly errors: readonly CustomError[];
}

type ReadSum = (agent: AgentSnapshot) => Exact | undefined;
type NumberKind = Pick<NumberMetric, 'kind' | 'onlyGrows'>;

/** Returns the metrics of rows. Rows that name the same metric add their points to it. */
export function eventMetrics({ rows, errors, ...dialect }: EventMetricsOptions): Metric[] {
  const counted = dialect.naming === 'otel' || hasErrors(dialect.release) ? errors : [];
  const byName = new Map<string, Metric>();
  for (const metric of [
    ...rows.flatMap((row) => metricsOfRow(row, dialect)),
    ...counted.flatMap((error) => metricsOfRow(errorRow(-1, error.status), dialect, errorSum(error))),
  ]) {
    const before = byName.get(metric.name);
    byName.set(metric.name, before === undefined ? metric : joined(before, metric));
  }
  return [...byName.values()];
}

/** Returns the metrics of one row. `readSum` replaces the reading of the row's sum. */
function metricsOfRow(row: EventRow, dialect: Dialect, readSum?: ReadSum): Metric[] {
  const { counter, upDownCounter, gauge, histogram } = refsOf(row, dialect);
  const { type } = row;
  const types = [type];
  const sum = (labels: Labels): Point<Exact> =>
    readSum === undefined ? numberPoint({ types, value: 'sum' }, labels) : { labels, read: readSum };
  const last = (labels: Labels): Point<Exact> => numberPoint({ types, value: 'last' }, labels);
  const about = (ref: MetricRef) => ({ name: ref.name, description: ref.description, ...unitOf(row, dialect) });
  const numbers = (ref: MetricRef | undefined, kind: NumberKind, point: (labels: Labels) => Point<Exact>): Metric[] =>
    ref === undefined ? [] : [{ ...about(ref), ...kind, points: [point(labelsOf(row, ref, dialect))] }];
  return [
    ...numbers(counter, { kind: 'counter' }, sum),
    ...numbers(upDownCounter, { kind: 'updowncounter', onlyGrows: true }, sum),
    ...numbers(gauge, { kind: 'gauge' }, last),
    ...(histogram === undefined
      ? []
      : [
          {
            ...about(histogram),
            kind: 'histogram' as const,
            points: [histogramPoint({ types, value: 'histogram' }, labelsOf(row, histogram, dialect))],
            recordsType: type,
          },
        ]),
  ];
}

function refsOf(row: EventRow, { naming, release }: Dialect): EventMetricRefs {
  return naming === 'nixl' ? seriesInRelease(release, row) : row.otel;
}

/** Naming `nixl` keeps NIXL's microseconds and has no units: a backend would append them to NIXL's names. */
function unitOf(row: EventRow, { naming }: Dialect): Pick<Metric, 'unit' | 'divisor' | 'isNixlSeries'> {
  if (naming === 'nixl') return { unit: '', divisor: 1, isNixlSeries: true };
  return row.unit === 'us' ? { unit: 's', divisor: MICROSECONDS_PER_SECOND } : { unit: row.unit, divisor: 1 };
}

function labelsOf(row: EventRow, { labels = NO_LABELS }: MetricRef, { naming, release }: Dialect): Labels {
  if (naming === 'otel' || !RELEASES[release].hasCategory) return labels;
  const category = CATEGORY_LABELS.get(row.category)!;
  return labels === NO_LABELS ? category : { ...category, ...labels };
}

function joined(a: Metric, b: Metric): Metric {
  if (a.kind === 'histogram' && b.kind === 'histogram') {
    // A histogram of two types cannot be recorded event by event.
    return { ...a, points: [...a.points, ...b.points], recordsType: undefined };
  }
  if (a.kind !== 'histogram' && a.kind === b.kind) return { ...a, points: [...a.points, ...b.points] };
  throw new TypeError(`event table: ${a.name} is both ${a.kind} and ${b.kind}`);
}
