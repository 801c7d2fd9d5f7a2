/**
 * NodeSDK with OpenTelemetry's instrumentations, for a service that answers /metrics itself: node --import ./telemetry.mjs
 * service.mjs. The service imports `exporter` and `sdk`.
 */
import { isMainThread } from 'node:worker_threads';
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';
import { getNodeAutoInstrumentations } from '@opentelemetry/auto-instrumentations-node';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { envDetector } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { NixlInstrumentation } from 'opentelemetry-instrumentation-nixl';

diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);

export const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
export const sdk = new NodeSDK({
  metricReaders: [exporter],
  resourceDetectors: [envDetector], // PrometheusExporter logs errors with asynchronous detectors
  instrumentations: [
    getNodeAutoInstrumentations(),
    new NixlInstrumentation({ directories: process.env.NIXL_TELEMETRY_DIR ?? '/dev/shm/nixl' }),
  ],
});
if (isMainThread) sdk.start(); // worker threads run this file, too
