/** OTLP exporter of a protocol. The SDK reads further settings from OTEL_EXPORTER_OTLP_* itself. */
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import { aggregationSelector } from './aggregation.js';
import { dividingPushes } from './divided-exporter.js';
import { collectorUrl, isTimeoutSet } from '../../settings/otlp-environment.js';
import { optionalPackage } from './optional-package.js';
import { proxiedAgent } from './otlp-proxy.js';
import type { ServeSettings } from '../../settings/serve-rows.js';

/** Values of AggregationTemporalityPreference. */
const PREFERENCES = { delta: 0, cumulative: 1, lowmemory: 2 } as const;

const METRICS_PATH = 'v1/metrics';
const GRPC = '@opentelemetry/exporter-metrics-otlp-grpc';

/** OpenTelemetry's default of OTEL_EXPORTER_OTLP_TIMEOUT. */
const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Loads the exporter of the chosen protocol and no other. `limitMs`: timeout of an export.
 * @throws Failure when gRPC is chosen and its package is not installed.
 */
export async function otlpExporter(settings: ServeSettings, limitMs: number): Promise<PushMetricExporter> {
  const { otlpEndpoint, otlpProtocol, temporality, histograms } = settings;
  // The exporter knows the cause of a failure only after its own time for retries, which must end before the limit.
  const timeout = isTimeoutSet(process.env) ? {} : { timeoutMillis: Math.min(DEFAULT_TIMEOUT_MS, limitMs * 0.9) };
  const options = {
    temporalityPreference: PREFERENCES[temporality],
    aggregationPreference: aggregationSelector(histograms),
    ...timeout,
  };
  const isGrpc = otlpProtocol === 'grpc';
  const url = otlpEndpoint === undefined || isGrpc ? otlpEndpoint : metricsUrl(otlpEndpoint);
  const { OTLPMetricExporter } = isGrpc
    ? await optionalPackage(GRPC, 'OTLP over grpc', () => import('@opentelemetry/exporter-metrics-otlp-grpc'))
    : otlpProtocol === 'http/json'
      ? await import('@opentelemetry/exporter-metrics-otlp-http')
      : await import('@opentelemetry/exporter-metrics-otlp-proto');
  const agent = isGrpc ? undefined : proxiedAgent(new URL(collectorUrl(otlpEndpoint, otlpProtocol, process.env)));
  const exporter = new OTLPMetricExporter({
    ...options,
    ...(url === undefined ? {} : { url }),
    ...(agent === undefined ? {} : { httpAgentOptions: agent }),
  });
  return dividingPushes(exporter, 'exporter otlp');
}

/** Treats an endpoint without a path as a base, as OTEL_EXPORTER_OTLP_ENDPOINT is. */
function metricsUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = METRICS_PATH;
  return url.href;
}
