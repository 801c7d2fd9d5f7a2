/**
 * Names that options must not take: metrics of this package, and NIXL's own events. Names of metrics collide in
 * OpenTelemetry, or as Prometheus spells them. Attribute names are reserved in mapping: takenAttributeName().
 */
import {
  Category,
  type CustomMetric,
  EVENTS,
  globPattern,
  metricsOf,
  NAMINGS,
  NIXL_RELEASES,
  prometheusSpelling,
  TALLY_BUILDERS,
} from '../mapping/index.js';
import * as semconv from '../mapping/semconv.js';

export interface Named {
  readonly name: string;
  readonly kind: string;
}

/** Metrics of serve about its process, in both namings. */
const PROCESS_METRICS = {
  process_cpu_seconds_total: 'counter',
  process_resident_memory_bytes: 'updowncounter',
  process_open_fds: 'updowncounter',
  process_max_fds: 'gauge',
  process_start_time_seconds: 'gauge',
  'process.cpu.time': 'counter',
  'process.memory.usage': 'updowncounter',
  'process.unix.file_descriptor.count': 'updowncounter',
  'process.uptime': 'gauge',
} as const;
export type ProcessMetricName = keyof typeof PROCESS_METRICS;

/** Metrics that belong to no agent. The tables that export them take their names from here. */
export const OWN_METRICS = {
  [semconv.METRIC_NIXL_COLLECTOR_TICKS]: 'counter',
  [semconv.METRIC_NIXL_COLLECTOR_LATE_TICKS]: 'counter',
  [semconv.METRIC_NIXL_COLLECTOR_LAG_MAX]: 'gauge',
  [semconv.METRIC_NIXL_COLLECTOR_AGENTS]: 'updowncounter',
  [semconv.METRIC_NIXL_COLLECTOR_PROBLEMS]: 'updowncounter',
  [semconv.METRIC_NIXL_COLLECTOR_SPACE]: 'updowncounter',
  [semconv.METRIC_NIXL_COLLECTOR_SPACE_AGENTS]: 'gauge',
  [semconv.METRIC_NIXL_OTEL_BUILD_INFO]: 'gauge',
  [semconv.METRIC_NIXL_EXPORTER_EXPORTS]: 'counter',
  [semconv.METRIC_NIXL_EXPORTER_TIME]: 'counter',
  [semconv.METRIC_NIXL_EXPORTER_FAILURES]: 'counter',
  ...PROCESS_METRICS,
  [semconv.METRIC_NIXL_HTTP_REFUSALS]: 'counter',
  [semconv.METRIC_NIXL_HTTP_CONFIG_STALE]: 'gauge',
  [semconv.METRIC_NIXL_HTTP_CERTIFICATE_EXPIRY]: 'gauge',
  [semconv.METRIC_NIXL_FINDINGS]: 'gauge',
  [semconv.METRIC_NIXL_DURATION_SAMPLED_RATIO]: 'gauge',
  [semconv.METRIC_NIXL_DURATION_EVENTS]: 'counter',
  /** The Prometheus exporter makes this metric from the resource. */
  target_info: 'gauge',
} as const;
export type OwnMetricName = keyof typeof OWN_METRICS;

/** Returns a metric of this package, in any naming and release, that collides with `metric`. */
export function builtInLike(metric: Named): Named | undefined {
  const ofAgents = NAMINGS.flatMap((naming) =>
    (naming === 'nixl' ? NIXL_RELEASES : NIXL_RELEASES.slice(-1)).flatMap((release) =>
      metricsOf(naming, { builders: TALLY_BUILDERS, release }),
    ),
  );
  const all: readonly Named[] = [...ofAgents, ...Object.entries(OWN_METRICS).map(([name, kind]) => ({ name, kind }))];
  return all.find((one) => one.name === metric.name) ?? all.find((one) => sharedName(one, metric) !== undefined);
}

/** Returns the first Prometheus name that both would have. */
export function sharedName(one: Named, other: Named): string | undefined {
  const taken = prometheusNames(one);
  return prometheusNames(other).find((name) => taken.includes(name));
}

/** Returns the names in Prometheus: the name of a counter ends in _total, and a histogram has four names. */
function prometheusNames({ name, kind }: Named): string[] {
  const spelled = prometheusSpelling(name);
  if (kind === 'counter') return [spelled.endsWith('_total') ? spelled : `${spelled}_total`];
  return kind === 'histogram' ? ['', '_bucket', '_count', '_sum'].map((end) => spelled + end) : [spelled];
}

/** NIXL's events as wire version 1 and the labels spell them. */
export const KNOWN_EVENTS = EVENTS.flatMap(({ event, wireVersion1Name, category }) => [
  { name: event, category },
  ...(wireVersion1Name === undefined ? [] : [{ name: wireVersion1Name, category }]),
]);

/** Returns NIXL's events that a glob matches but does not count. Returns none for `*`, which means all other events. */
export function passedOver({ event, category }: Pick<CustomMetric, 'event' | 'category'>): string[] {
  if (typeof event === 'number' || /^\*+$/.test(event) || !/[*?]/.test(event)) return [];
  const matches = globPattern(event);
  return KNOWN_EVENTS.filter(
    (one) => matches.test(one.name) && (category === undefined || Category[category] === one.category),
  ).map(({ name }) => name);
}
