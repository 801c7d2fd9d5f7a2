// A service for OpenTelemetry 3: readers in a list, and logs from the API itself.
import { logs } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { NixlInstrumentation } from 'opentelemetry-instrumentation-nixl';

const [port, directories] = process.argv.slice(2);
const instrumentation = new NixlInstrumentation({ directories });
const sdk = new NodeSDK({
  metricReaders: [
    new PrometheusExporter({
      host: '127.0.0.1',
      port: Number(port),
      metricProducers: [instrumentation.metricProducer()],
    }),
  ],
  instrumentations: [instrumentation],
});
sdk.start();
logs.getLogger('a-service').emit({ body: 'started' });
process.once('SIGTERM', () => void sdk.shutdown().then(() => instrumentation.disable()));
await import('./plain.mjs'); // the service's work
