/** Series as the tests of rules write them, spelled as a Prometheus has them. Independent of the generator of the rules. */

export interface Spelling {
  readonly naming: 'nixl' | 'otel';
  /** By OTLP, with the translation of Prometheus 3. Otherwise scraped. */
  readonly isOtlp: boolean;
}

export const SPELLINGS: Record<string, Spelling> = {
  'scraped, naming nixl': { naming: 'nixl', isOtlp: false },
  'scraped, naming otel': { naming: 'otel', isOtlp: false },
  'by OTLP, naming nixl': { naming: 'nixl', isOtlp: true },
  'by OTLP, naming otel': { naming: 'otel', isOtlp: true },
};

/** Names of NIXL's own series: in naming `nixl`, scraped in naming `otel`, and by OTLP in naming `otel`. */
const OF_NIXL = {
  'tx bytes': ['agent_tx_bytes_total', 'nixl_transfer_io_total', 'nixl_transfer_io_bytes_total'],
  'rx bytes': ['agent_rx_bytes_total', 'nixl_transfer_io_total', 'nixl_transfer_io_bytes_total'],
  'tx requests': ['agent_tx_requests_num_total', 'nixl_transfer_requests_total', 'nixl_transfer_requests_total'],
  'rx requests': ['agent_rx_requests_num_total', 'nixl_transfer_requests_total', 'nixl_transfer_requests_total'],
  errors: ['agent_errors_total', 'nixl_errors_total', 'nixl_errors_total'],
  'events dropped': [
    'agent_telemetry_events_dropped_total',
    'nixl_telemetry_events_dropped_total',
    'nixl_telemetry_events_dropped_total',
  ],
  'duration bucket': [
    'agent_xfer_time_us_bucket',
    'nixl_transfer_duration_bucket',
    'nixl_transfer_duration_seconds_bucket',
  ],
  'native duration': ['agent_xfer_time_us', 'nixl_transfer_duration', 'nixl_transfer_duration_seconds'],
} as const;

/** Names of this package's series: scraped, and by OTLP where that differs. */
const OWN = {
  'ring full': ['nixl_ring_full_total'],
  'ring utilization': ['nixl_ring_utilization', 'nixl_ring_utilization_ratio'],
  'foreign moves': ['nixl_ring_foreign_moves_total'],
  'ring suspect': ['nixl_ring_suspect'],
  'ring writers': ['nixl_ring_writers'],
  resyncs: ['nixl_ring_resyncs_total'],
  restarts: ['nixl_agent_restarts_total'],
  'agent up': ['nixl_agent_up'],
  'memory usage': ['nixl_memory_usage', 'nixl_memory_usage_bytes'],
  'memory approximate': ['nixl_memory_approximate'],
  problems: ['nixl_collector_problems'],
  agents: ['nixl_collector_agents'],
  'exporter failures': ['nixl_exporter_failures_total'],
  'config stale': ['nixl_http_config_stale'],
  'certificate expiry': ['nixl_http_certificate_expiry', 'nixl_http_certificate_expiry_seconds'],
  ticks: ['nixl_collector_ticks_total'],
  'transfer slowdown': ['nixl_transfer_slowdown', 'nixl_transfer_slowdown_ratio'],
  'post slowdown': ['nixl_post_slowdown', 'nixl_post_slowdown_ratio'],
  findings: ['nixl_findings'],
  'late ticks': ['nixl_collector_late_ticks_total'],
  'builders events': ['nixl_builders_events_total'],
  'duration events': ['nixl_duration_events_total'],
} as const;

export type Concept = keyof typeof OF_NIXL | keyof typeof OWN;

/** Labels of naming `nixl`, and their names in naming `otel`. */
const OTEL_LABELS: Record<string, string> = {
  agent_name: 'nixl_agent_name',
  status: 'error_type',
  state: 'nixl_ring_state',
  life: 'nixl_agent_life',
  exporter: 'nixl_exporter_name',
  direction: 'nixl_transfer_direction',
  kind: 'nixl_finding_kind',
  level: 'nixl_finding_level',
};

export type Labels = Record<string, string>;

/** Returns a series for promtool. Bounds (`le`) are in seconds. */
export function spelled(concept: Concept, labels: Labels, { naming, isOtlp }: Spelling): string {
  return seriesText(nameOf(concept, naming, isOtlp), labelsOf(concept, labels, naming));
}

function nameOf(concept: Concept, naming: Spelling['naming'], isOtlp: boolean): string {
  if (concept in OWN) {
    const [scraped, byOtlp = scraped] = OWN[concept as keyof typeof OWN] as readonly [string, string?];
    return isOtlp ? byOtlp : scraped;
  }
  const [nixl, otel, byOtlp] = OF_NIXL[concept as keyof typeof OF_NIXL];
  if (naming === 'nixl') return nixl;
  return isOtlp ? byOtlp : otel;
}

function labelsOf(concept: Concept, labels: Labels, naming: Spelling['naming']): Labels {
  if (naming === 'nixl') return 'le' in labels ? { ...labels, le: microseconds(labels['le']) } : labels;
  const renamed = Object.entries(labels).map(([label, value]) => [otelLabel(concept, label), value] as const);
  const [direction] = /^[tr]x/.exec(concept) ?? [];
  const of = { tx: 'transmit', rx: 'receive' }[direction as 'tx' | 'rx'];
  return { ...Object.fromEntries(renamed), ...(of === undefined ? {} : { nixl_transfer_direction: of }) };
}

function otelLabel(concept: Concept, label: string): string {
  if (concept === 'duration events' && label === 'outcome') return 'nixl_duration_outcome';
  return OTEL_LABELS[label] ?? label;
}

function microseconds(seconds: string): string {
  return seconds === '+Inf' ? seconds : String(Number(seconds) * 1e6);
}

export function seriesText(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(', ')}}`;
}
