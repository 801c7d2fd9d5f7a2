// A service in CommonJS. With OpenTelemetry 3 each class of the SDK exists twice: as CommonJS here, as ES module in the package.
const { PrometheusExporter } = require('@opentelemetry/exporter-prometheus');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { NixlInstrumentation } = require('opentelemetry-instrumentation-nixl');

const [port, directories] = process.argv.slice(2);
const reader = new PrometheusExporter({ host: '127.0.0.1', port: Number(port) });
const sdk = new NodeSDK({
  metricReader: reader, // OpenTelemetry 2
  metricReaders: [reader],
  instrumentations: [new NixlInstrumentation({ directories })],
});
sdk.start();
process.once('SIGTERM', () => void sdk.shutdown());
void import('./plain.mjs'); // the service's work
