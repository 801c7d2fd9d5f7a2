// A service with NIXL metrics by one of the ways in. Arguments: the way, the directory of the rings, milliseconds of each
// 100 that the event loop is blocked, and the path of the package. It prints its port, and ends after SIGTERM.
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

const [way, directories, blockedMs, at] = process.argv.slice(2);
const { NixlInstrumentation, NixlMetricProducer } = await import(at);

const instrumentation = ['metricProducer()', 'NixlInstrumentation', 'instruments of the API'].includes(way)
  ? new NixlInstrumentation({ directories })
  : undefined;
const producers = {
  NixlMetricProducer: () => [new NixlMetricProducer({ directories })],
  'metricProducer()': () => [instrumentation.metricProducer()],
};
const reader = new PrometheusExporter({
  host: '127.0.0.1',
  preventServerStart: true,
  metricProducers: producers[way]?.() ?? [],
});
const provider = new MeterProvider({ readers: [reader] });
// Without the fields of the SDK, like a provider of another vendor.
const hidden = { getMeter: (...about) => provider.getMeter(...about) };
if (way === '/register') metrics.setGlobalMeterProvider(provider);
else instrumentation?.setMeterProvider(way === 'instruments of the API' ? hidden : provider);

const { createServer } = await import('node:http');
const server = createServer((request, response) => reader.getMetricsRequestHandler(request, response));
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));

// Synchronous work of the service.
setInterval(() => {
  const end = performance.now() + Number(blockedMs);
  while (performance.now() < end);
}, 100).unref();

process.once('SIGTERM', () => process.exit());
