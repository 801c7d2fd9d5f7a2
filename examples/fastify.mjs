/** A Fastify service with the metrics on its own port: PORT=3000 node fastify.mjs */
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { envDetector } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import Fastify from 'fastify';
import { NixlInstrumentation } from 'opentelemetry-instrumentation-nixl';

diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);

const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
const sdk = new NodeSDK({
  metricReaders: [exporter],
  resourceDetectors: [envDetector], // PrometheusExporter logs errors with asynchronous detectors
  instrumentations: [new NixlInstrumentation({ directories: process.env.NIXL_TELEMETRY_DIR ?? '/dev/shm/nixl' })],
});
sdk.start();

const app = Fastify();
app.get('/', () => 'hello\n');
app.get('/metrics', (request, reply) => {
  reply.hijack(); // the exporter writes the answer itself
  exporter.getMetricsRequestHandler(request.raw, reply.raw);
});
app.addHook('onClose', () => sdk.shutdown());
const address = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' });
console.log(`metrics on ${address}/metrics`);

process.once('SIGTERM', () => app.close());
