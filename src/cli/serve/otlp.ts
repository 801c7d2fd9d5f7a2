/** The OTLP exporter of a protocol. What is not set here, the SDK takes from OTEL_EXPORTER_OTLP_* itself. */
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter as JsonExporter,
} from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { Failure } from '../process/failure.js';
import { isTimeoutSet } from './otlp-environment.js';
import type { PushMetricExporter } from './sdk-types.js';
import type { ServeSettings } from '../../settings/serve-rows.js';

const PREFERENCES = {
  cumulative: AggregationTemporalityPreference.CUMULATIVE,
  delta: AggregationTemporalityPreference.DELTA,
  lowmemory: AggregationTemporalityPreference.LOWMEMORY,
};

const METRICS_PATH = 'v1/metrics';

/** OpenTelemetry's default of OTEL_EXPORTER_OTLP_TIMEOUT. */
const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * `limitMs`: when an export is given up.
 * @throws Failure when gRPC is wanted and its package is not installed.
 */
export async function otlpExporter(settings: ServeSettings, limitMs: number): Promise<PushMetricExporter> {
  const { otlpEndpoint, otlpProtocol, temporality } = settings;
  // It knows what was wrong only when its own time for further attempts is over, which must come before the limit.
  const timeout = isTimeoutSet(process.env) ? {} : { timeoutMillis: Math.min(DEFAULT_TIMEOUT_MS, limitMs * 0.9) };
  const options = { temporalityPreference: PREFERENCES[temporality], ...timeout };
  if (otlpProtocol === 'grpc') {
    const { OTLPMetricExporter } = await grpc();
    return new OTLPMetricExporter({ ...options, ...(otlpEndpoint === undefined ? {} : { url: otlpEndpoint }) });
  }
  const withUrl = { ...options, ...(otlpEndpoint === undefined ? {} : { url: metricsUrl(otlpEndpoint) }) };
  return otlpProtocol === 'http/json' ? new JsonExporter(withUrl) : new ProtobufExporter(withUrl);
}

/** As OTEL_EXPORTER_OTLP_ENDPOINT a base, unless it has a path already. */
function metricsUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = METRICS_PATH;
  return url.href;
}

async function grpc() {
  try {
    return await import('@opentelemetry/exporter-metrics-otlp-grpc');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Failure(
      'OTLP over grpc needs a package that is not installed: npm install @opentelemetry/exporter-metrics-otlp-grpc',
    );
  }
}
