/** What serve and demo have in common: an address, a pipeline behind it, and the order in which the two come and go. */
import type { ProducerSettings } from '../../settings/settings.js';
import { isCustomError } from '../../mapping/index.js';
import { publishPage } from '../page/routes.js';
import { readiness } from '../http/health.js';
import { listenOn, type MetricsServer } from '../http/metrics-server.js';
import { MetricsPipeline } from './pipeline.js';
import type { ServeSettings } from '../../settings/serve-rows.js';

export interface Serving {
  readonly pipeline: MetricsPipeline;
  /** Of the page of metrics; undefined when nothing is served. */
  readonly url: string | undefined;
}

/**
 * Serves while `work` runs. The address comes first: who cannot serve must not take a single event out of a ring.
 * @throws Failure when the address or an exporter cannot be had; NixlTelemetryError; what `work` throws.
 */
export async function whileServing(
  settings: ServeSettings,
  rings: ProducerSettings,
  listen: boolean,
  work: (serving: Serving) => Promise<void>,
): Promise<void> {
  const server = listen ? await listenOn(settings.host, settings.port) : undefined;
  let pipeline: MetricsPipeline | undefined;
  try {
    pipeline = await MetricsPipeline.open(rings, settings);
    publish(server, pipeline);
    if (server !== undefined && settings.page === 'on') {
      publishPage(server, pipeline, settings.dir ?? [], rings.customEvents.filter(isCustomError));
    }
    await work({ pipeline, url: server?.url });
  } finally {
    // Whoever asks now is sent elsewhere, while the last numbers go out.
    server?.route('/readyz', (_, answer) => answer(503, 'stopping'));
    await pipeline?.close(settings.shutdownTimeout);
    await server?.close();
  }
}

function publish(server: MetricsServer | undefined, pipeline: MetricsPipeline): void {
  const { page } = pipeline;
  if (page !== undefined) server?.route('/metrics', page);
  server?.route('/readyz', (_, answer) => {
    const { ready, text } = readiness(pipeline.look());
    answer(ready ? 200 : 503, text);
  });
}
