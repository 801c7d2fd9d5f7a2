/**
 * Names of series in a Prometheus: scraped in naming `nixl` or `otel`, or by OTLP with the translation of Prometheus 3 and of
 * the specification. Made of the model of all metrics.
 */
import { translatedName } from '../reference/prometheus-names.mjs';

/** Labels that differ between the namings, by the one name that the rules and the dashboards give them. */
export const LABELS = {
  agent: ['agent_name', 'nixl_agent_name'],
  direction: ['direction', 'nixl_transfer_direction'],
  up_to_bytes: ['up_to_bytes', 'nixl_transfer_up_to_bytes'],
  status: ['status', 'error_type'],
  life: ['life', 'nixl_agent_life'],
  state: ['state', 'nixl_ring_state'],
  outcome: ['outcome', 'nixl_duration_outcome'],
  kind: ['kind', 'nixl_finding_kind'],
  level: ['level', 'nixl_finding_level'],
  exporter: ['exporter', 'nixl_exporter_name'],
  result: ['result', 'nixl_export_result'],
  display_name: ['display_name', 'nixl_agent_display_name'],
  engine: ['engine', 'nixl_agent_engine'],
  role: ['role', 'nixl_agent_role'],
  ranks: ['ranks', 'nixl_agent_ranks'],
  pod: ['pod', 'k8s_pod_name'],
  way_tx: ['way_tx', 'nixl_agent_way_tx'],
  way_rx: ['way_rx', 'nixl_agent_way_rx'],
};

/**
 * Returns the forms of a metric of modelOf(). Those in `names` differ in nothing but the name. `adds`: labels that only other
 * forms have. `divisor`: of values in microseconds, for seconds.
 */
export function formsOf({ name, kind, unit, nixl = [], names: byNaming, labels }) {
  const scraped = `${name.replaceAll('.', '_')}${kind === 'counter' ? '_total' : ''}`;
  const ofNixl = nixl.map((own) => ({
    names: [own.name],
    adds: 'direction' in labels ? { direction: own.name.startsWith('agent_tx_') ? 'transmit' : 'receive' } : {},
    divisor: own.unit === 'us' && unit === 's' ? 1e6 : 1,
  }));
  const names = [...new Set([byNaming?.nixl ?? scraped, scraped, translatedName({ name, kind, unit })])];
  return [...ofNixl, { names, adds: {}, divisor: 1 }];
}
