/** An Express service with the metrics on its own port: PORT=3000 node express.mjs */
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { envDetector } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import express from 'express';
import { NixlInstrumentation } from 'opentelemetry-instrumentation-nixl';

diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);

const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
const sdk = new NodeSDK({
  metricReaders: [exporter],
  resourceDetectors: [envDetector], // PrometheusExporter logs errors with asynchronous detectors
  instrumentations: [new NixlInstrumentation({ directories: process.env.NIXL_TELEMETRY_DIR ?? '/dev/shm/nixl' })],
});
sdk.start();

const app = express();
app.get('/', (request, response) => response.send('hello\n'));
app.get('/metrics', (request, response) => exporter.getMetricsRequestHandler(request, response));
const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', (error) => {
  if (error) throw error; // such as a port that is taken
  console.log(`metrics on http://127.0.0.1:${server.address().port}/metrics`);
});

process.once('SIGTERM', () => server.close(() => sdk.shutdown()));
