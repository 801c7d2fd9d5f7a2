/** Names of metrics that this package has itself, whichever naming is chosen. */
import { metricsOf, NAMINGS, prometheusSpelling, TALLY_BUILDERS } from '../../mapping/index.js';
import { DURATION_METRICS } from '../duration-metrics.js';
import { SELF_METRICS } from '../self-metrics.js';

interface Named {
  readonly name: string;
  readonly kind: string;
}

/** The one that a metric of this name and kind would meet, if there is one: there or on the page of Prometheus. */
export function builtInMetric(name: string, kind: string): string | undefined {
  const ofAgents = NAMINGS.flatMap((naming) => metricsOf(naming, { builders: TALLY_BUILDERS }));
  const all: readonly Named[] = [...ofAgents, ...SELF_METRICS, ...DURATION_METRICS];
  return all.find((one) => one.name === name || onPage(one) === onPage({ name, kind }))?.name;
}

/** Prometheus ends the names of counters in _total. */
function onPage({ name, kind }: Named): string {
  const spelled = prometheusSpelling(name);
  return kind === 'counter' && !spelled.endsWith('_total') ? `${spelled}_total` : spelled;
}
