// A service with NixlInstrumentation, a custom builder, and a MeterProvider without the fields of OpenTelemetry's SDK, like one of
// another vendor: the instrumentation records durations itself. Arguments: the path of the package, the directory of the rings,
// the naming, and the URL for pushes by OTLP. Without a URL it prints the address of its metrics.
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { defaultResource, detectResources, envDetector } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

const [at, directories, naming, url] = process.argv.slice(2);
const { NixlInstrumentation } = await import(at);

const takesAll = { name: 'takes-all', create() {}, take: (events) => events.length };
const instrumentation = new NixlInstrumentation({ directories, naming, builders: ['nixl', 'agents', takesAll] });
const reader =
  url === undefined
    ? new PrometheusExporter({ host: '127.0.0.1', preventServerStart: true, withoutScopeInfo: true })
    : new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url }),
        exportIntervalMillis: 500,
        exportTimeoutMillis: 500,
      });
const provider = new MeterProvider({
  readers: [reader],
  resource: defaultResource().merge(detectResources({ detectors: [envDetector] })),
});
instrumentation.setMeterProvider({ getMeter: (...about) => provider.getMeter(...about) });

if (url !== undefined) {
  setInterval(() => {}, 60_000); // the timer of the reader keeps no process
} else {
  const { createServer } = await import('node:http');
  const server = createServer((request, response) => reader.getMetricsRequestHandler(request, response));
  server.listen(0, '127.0.0.1', () => console.log(`serves http://127.0.0.1:${server.address().port}/metrics`));
}
