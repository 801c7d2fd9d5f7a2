/** Names of metrics that would meet: in OpenTelemetry, or as Prometheus spells them on its page. */
import { metricsOf, NAMINGS, NIXL_RELEASES, prometheusSpelling, TALLY_BUILDERS } from '../mapping/index.js';
import { DURATION_METRICS } from '../instrumentation/self-metrics.js';
import { SELF_METRICS } from '../instrumentation/self-metrics.js';

export interface Named {
  readonly name: string;
  readonly kind: string;
}

/** What Prometheus' exporter says of the resource. */
const TARGET_INFO: Named = { name: 'target_info', kind: 'gauge' };

/** A metric that this package has itself, whichever naming and release are chosen, and that this one would meet. */
export function builtInLike(metric: Named): Named | undefined {
  const ofAgents = NAMINGS.flatMap((naming) =>
    (naming === 'nixl' ? NIXL_RELEASES : NIXL_RELEASES.slice(-1)).flatMap((release) =>
      metricsOf(naming, { builders: TALLY_BUILDERS, release }),
    ),
  );
  const all: readonly Named[] = [...ofAgents, ...SELF_METRICS, ...DURATION_METRICS, TARGET_INFO];
  return all.find((one) => one.name === metric.name) ?? all.find((one) => sharedName(one, metric) !== undefined);
}

/** The name on a page of Prometheus that both would have. */
export function sharedName(one: Named, other: Named): string | undefined {
  const taken = onPage(one);
  return onPage(other).find((name) => taken.includes(name));
}

/** Prometheus ends the names of counters in _total, and a histogram is a family of four names. */
function onPage({ name, kind }: Named): string[] {
  const spelled = prometheusSpelling(name);
  if (kind === 'counter') return [spelled.endsWith('_total') ? spelled : `${spelled}_total`];
  return kind === 'histogram' ? ['', '_bucket', '_count', '_sum'].map((end) => spelled + end) : [spelled];
}
