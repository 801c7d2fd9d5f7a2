/** NodeSDK that pushes to OTEL_EXPORTER_OTLP_ENDPOINT, for any service: node --import ./node-sdk-otlp.mjs app.mjs */
import { isMainThread } from 'node:worker_threads';
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { NixlInstrumentation } from 'opentelemetry-instrumentation-nixl';

diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN); // prints problems, such as a collector that does not answer

// Node.js runs this file in each worker thread, too, which would export the same events again.
if (isMainThread) startSdk();

function startSdk() {
  const sdk = new NodeSDK({
    // http://localhost:4318, or OTEL_EXPORTER_OTLP_ENDPOINT
    metricReaders: [
      new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(), exportIntervalMillis: 15_000 }),
    ],
    instrumentations: [new NixlInstrumentation({ directories: process.env.NIXL_TELEMETRY_DIR ?? '/dev/shm/nixl' })],
  });
  sdk.start();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => sdk.shutdown().finally(() => process.exit()));
}
