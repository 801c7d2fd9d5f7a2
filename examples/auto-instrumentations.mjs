/**
 * NodeSDK with OpenTelemetry's instrumentations, for any service: node --import ./auto-instrumentations.mjs app.mjs
 * Exporters are those of the variables OTEL_*, by default OTLP to http://localhost:4318.
 */
import { isMainThread } from 'node:worker_threads';
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';
import { getNodeAutoInstrumentations } from '@opentelemetry/auto-instrumentations-node';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { NixlInstrumentation } from 'opentelemetry-instrumentation-nixl';

diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);

const instrumentations = [getNodeAutoInstrumentations()];
// Node.js runs this file in each worker thread, too, which would export the same events of NIXL again.
if (isMainThread) {
  instrumentations.push(new NixlInstrumentation({ directories: process.env.NIXL_TELEMETRY_DIR ?? '/dev/shm/nixl' }));
}
const sdk = new NodeSDK({ instrumentations });
sdk.start();

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => sdk.shutdown().finally(() => process.exit()));
