// A service for OpenTelemetry 2: the instrumentation, and the single reader of its NodeSDK.
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { NixlInstrumentation } from 'opentelemetry-instrumentation-nixl';

const [port, directories] = process.argv.slice(2);
const sdk = new NodeSDK({
  metricReader: new PrometheusExporter({ host: '127.0.0.1', port: Number(port) }),
  instrumentations: [new NixlInstrumentation({ directories })],
});
sdk.start();
process.once('SIGTERM', () => void sdk.shutdown());
await import('./plain.mjs'); // the service's work
