/** NodeSDK with a page for Prometheus, for any service: node --import ./node-sdk-prometheus.mjs app.mjs */
import { isMainThread } from 'node:worker_threads';
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { envDetector } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { NixlInstrumentation } from 'opentelemetry-instrumentation-nixl';

diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN); // prints problems, such as a missing directory
if (isMainThread) startSdk(); // worker threads run this file, too

function startSdk() {
  const port = Number(process.env.OTEL_EXPORTER_PROMETHEUS_PORT ?? 9464); // http://127.0.0.1:9464/metrics
  const sdk = new NodeSDK({
    metricReaders: [new PrometheusExporter({ host: '127.0.0.1', port, withoutScopeInfo: true })], // NIXL's own labels
    resourceDetectors: [envDetector], // PrometheusExporter logs errors with asynchronous detectors
    instrumentations: [new NixlInstrumentation({ directories: process.env.NIXL_TELEMETRY_DIR ?? '/dev/shm/nixl' })],
  });
  sdk.start();
  process.once('SIGTERM', () => sdk.shutdown().finally(() => process.exit()));
}
