/** Common part of serve and demo: an HTTP server, a pipeline behind it, and the order of their start and end. */
import type { ProducerSettings } from '../../settings/settings.js';
import { isCustomError } from '../../mapping/index.js';
import { publishAgents } from '../api/routes.js';
import { publishPage } from '../page/routes.js';
import { readiness } from '../http/health.js';
import { listenIfFree, listenOn, listenOnceFree, type MetricsServer } from '../http/metrics-server.js';
import { note } from '../process/output.js';
import { reportToSystemd } from '../process/systemd.js';
import { type MetricsPipeline, openPipeline } from './pipeline.js';
import type { ServeSettings } from '../../settings/serve-rows.js';

interface Serving {
  readonly pipeline: MetricsPipeline;
  /** URL of the exposition; undefined without a server. */
  readonly url: string | undefined;
}

/**
 * Serves while `work` runs. The server starts first: if it cannot listen, no event is taken out of a ring. A standby opens its
 * exporters while it waits for the port, so that it drains as soon as the port is free.
 * @throws Failure if the address or an exporter is not available; NixlTelemetryError; errors of `work`.
 */
export async function whileServing(
  settings: ServeSettings,
  rings: ProducerSettings,
  listen: boolean,
  work: (serving: Serving) => Promise<void>,
): Promise<void> {
  const { host, port, standby } = settings;
  let server: MetricsServer | undefined;
  if (listen) server = standby === 'on' ? await listenIfFree(host, port) : await listenOn(host, port);
  const untilFree = async (): Promise<void> => {
    const text = `stands by until port ${port} of ${host} is free`;
    note(text);
    reportToSystemd(text);
    server = await listenOnceFree(host, port);
  };
  let pipeline: MetricsPipeline | undefined;
  let endHistory: (() => void) | undefined;
  try {
    pipeline = await openPipeline(rings, settings, listen && server === undefined ? untilFree : undefined);
    const { exposition, peek, attributesOf, failingExporters } = pipeline;
    if (exposition !== undefined) server?.route('/metrics', exposition);
    server?.route('/readyz', (_, answer) => {
      const { ready, text } = readiness(peek());
      answer(ready ? 200 : 503, text);
    });
    if (server !== undefined && settings.page === 'on') {
      publishPage(server);
      endHistory = publishAgents(server, peek, {
        directories: settings.dir ?? [],
        customErrors: rings.customEvents.filter(isCustomError),
        rankVariable: rings.rankVariable,
        attributesOf,
        failingExporters,
      });
    }
    await work({ pipeline, url: server?.url });
  } finally {
    endHistory?.();
    // Load balancers stop sending requests while the last export runs.
    server?.route('/readyz', (_, answer) => answer(503, 'stopping'));
    await pipeline?.close();
    await server?.close();
  }
}
