/**
 * Metrics of a process of serve about itself. In a service, the service's own instrumentation
 * reports the process. Metrics of the process have the names of Prometheus' client libraries in naming `nixl`, and those of
 * OpenTelemetry's semantic conventions in naming `otel`; all others have one name in both namings.
 */
import type { Naming } from '../mapping/index.js';
import * as semconv from '../mapping/semconv.js';
import { PACKAGE_VERSION } from '../ground/package.js';
import type { ProcessMetricName } from '../settings/reserved-names.js';
import { own, type OwnMetric, single } from './self-metrics.js';
import { type ProcessState, REFUSAL_REASONS, type ServeState } from './serve-state.js';

type ServeMetric = OwnMetric<[state: ServeState]>;

export const EXPORT_METRICS: readonly ServeMetric[] = [
  own(semconv.METRIC_NIXL_OTEL_BUILD_INFO, '{build}', '1, by the version of serve and that of Node.js.', () => [
    { labels: { version: PACKAGE_VERSION, node_version: process.versions.node }, value: 1 },
  ]),
  own(
    semconv.METRIC_NIXL_EXPORTER_EXPORTS,
    '{export}',
    'Exports of serve by exporter and result. A page of /metrics is an export of the exporter prometheus.',
    ({ exporters }) =>
      exporters.flatMap(({ exporter, results }) =>
        results === undefined
          ? []
          : [
              { labels: { exporter, result: 'success' }, value: results.success },
              { labels: { exporter, result: 'failed' }, value: results.failed },
            ],
      ),
  ),
  own(
    semconv.METRIC_NIXL_EXPORTER_TIME,
    's',
    'Total time of the exports of serve by exporter: to make a page, or to send what was collected.',
    ({ exporters }) =>
      exporters.flatMap(({ exporter, results }) =>
        results === undefined ? [] : [{ labels: { exporter }, value: results.seconds }],
      ),
  ),
  own(
    semconv.METRIC_NIXL_EXPORTER_FAILURES,
    '{failure}',
    'Failed exports of serve by exporter, and errors that an exporter threw outside of an export.',
    ({ exporters }) => exporters.map(({ exporter, failures }) => ({ labels: { exporter }, value: failures })),
  ),
  own(
    semconv.METRIC_NIXL_HTTP_REFUSALS,
    '{refusal}',
    'Requests and connections that serve refused because of its web configuration, the host that they named or a limit, by reason.',
    ({ access }) =>
      access === undefined
        ? []
        : REFUSAL_REASONS.map((reason) => ({ labels: { reason }, value: access.refusals.get(reason) ?? 0 })),
  ),
  own(
    semconv.METRIC_NIXL_HTTP_CONFIG_STALE,
    '{file}',
    '1 if files of the web configuration have changed and cannot be used.',
    ({ access }) => single(access && Number(access.isStale)),
  ),
  own(
    semconv.METRIC_NIXL_HTTP_CERTIFICATE_EXPIRY,
    's',
    'End of the validity of the certificate that serve shows, in seconds since the epoch.',
    ({ access }) => single(access?.certificateExpirySeconds),
  ),
  own(
    semconv.METRIC_NIXL_FINDINGS,
    '{finding}',
    'What serve finds wrong or notes about the agents now, by kind and level: alarm or note.',
    ({ findings = [] }) => findings.map(({ kind, level, count }) => ({ labels: { kind, level }, value: count })),
  ),
];

interface ProcessMetric {
  /** Undefined if the naming has no such metric. */
  readonly names: Readonly<Partial<Record<Naming, ProcessMetricName>>>;
  readonly unit: string;
  readonly description: string;
  readonly field: keyof ProcessState;
}

export const PROCESS_METRICS: readonly ProcessMetric[] = [
  {
    names: { nixl: 'process_cpu_seconds_total', otel: 'process.cpu.time' },
    unit: 's',
    description: 'CPU time of serve, of all threads, in user and in kernel mode.',
    field: 'cpuSeconds',
  },
  {
    names: { nixl: 'process_resident_memory_bytes', otel: 'process.memory.usage' },
    unit: 'By',
    description: 'Resident memory of serve.',
    field: 'residentBytes',
  },
  {
    names: { nixl: 'process_open_fds', otel: 'process.unix.file_descriptor.count' },
    unit: '{file_descriptor}',
    description: 'Open file descriptors of serve.',
    field: 'openDescriptors',
  },
  {
    names: { nixl: 'process_max_fds' },
    unit: '{file_descriptor}',
    description: 'Most file descriptors that serve may open.',
    field: 'maxDescriptors',
  },
  {
    names: { nixl: 'process_start_time_seconds' },
    unit: 's',
    description: 'Start of serve, in seconds since the epoch.',
    field: 'startSeconds',
  },
  {
    names: { otel: 'process.uptime' },
    unit: 's',
    description: 'Time since the start of serve.',
    field: 'uptimeSeconds',
  },
];

function processMetric({ names, unit, description, field }: ProcessMetric, naming: Naming): ServeMetric[] {
  const name = names[naming];
  return name === undefined ? [] : [own(name, unit, description, ({ process }) => single(process[field]))];
}

function metricsIn(naming: Naming): readonly ServeMetric[] {
  return [...EXPORT_METRICS, ...PROCESS_METRICS.flatMap((metric) => processMetric(metric, naming))];
}

export const SERVE_METRICS: Readonly<Record<Naming, readonly ServeMetric[]>> = {
  nixl: metricsIn('nixl'),
  otel: metricsIn('otel'),
};
