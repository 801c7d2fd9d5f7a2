/** From rings to a page of metrics: the source, the producer that reads it, and the Prometheus exporter that asks it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import os from 'node:os';
import { diag } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { type NixlOptions, producerSettings } from '../instrumentation/config.js';
import { NixlMetricProducer } from '../instrumentation/metric-producer.js';
import { SourceFeed } from '../instrumentation/snapshot-feed.js';
import { PACKAGE_NAME, PACKAGE_VERSION } from '../instrumentation/version.js';
import { openSource } from '../shm-bridge/index.js';
import type { Snapshot } from '../shm-bridge/types.js';

/** The Prometheus text format that the exporter writes; it names only `text/plain`, which Prometheus 3 warns about. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export class MetricsPipeline {
  readonly #feed: SourceFeed;
  readonly #exporter: PrometheusExporter;
  readonly #provider: MeterProvider;

  /**
   * Draining starts at once.
   * @throws NixlTelemetryError CONFIG_INVALID, ADDON_MISSING
   */
  constructor(options: NixlOptions) {
    const { source, naming, hostname } = producerSettings(options);
    this.#feed = new SourceFeed(openSource(source), diag.createComponentLogger({ namespace: PACKAGE_NAME }));
    const producer = new NixlMetricProducer({}, { feed: this.#feed, naming, hostname });
    this.#exporter = new PrometheusExporter({
      metricProducers: [producer],
      preventServerStart: true, // we have our own, with more paths and limits
      withoutScopeInfo: true, // NIXL's series have NIXL's labels and no others
    });
    this.#provider = new MeterProvider({ resource: serviceResource(), readers: [this.#exporter] });
  }

  /** Answers a request with the page. */
  readonly writePage = (request: IncomingMessage, response: ServerResponse): void => {
    this.#exporter.getMetricsRequestHandler(request, response);
    // The page comes later, when everything has been collected, so the header still can be set.
    if (!response.headersSent) response.setHeader('content-type', CONTENT_TYPE);
  };

  /** Drains the rings now, and says what they told so far. */
  read(): Snapshot | undefined {
    return this.#feed.read(this);
  }

  async close(): Promise<void> {
    try {
      this.read();
      await this.#provider.shutdown();
    } finally {
      this.#feed.close();
    }
  }
}

function serviceResource() {
  return defaultResource().merge(
    resourceFromAttributes({
      'service.name': process.env['OTEL_SERVICE_NAME'] || 'nixl-otel',
      'service.version': PACKAGE_VERSION,
      'host.name': os.hostname(),
    }),
  );
}
