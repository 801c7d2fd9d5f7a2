/** Common part of serve and demo: an HTTP server, a pipeline behind it, and the order of their start and end. */
import type { ProducerSettings } from '../settings/settings.js';
import { isCustomError } from '../mapping/index.js';
import { API_PATHS, publishAgents } from './api/routes.js';
import { readiness } from './http/health.js';
import { listenOn, listenOnceFree, makeServer, type Routes, starting } from './http/metrics-server.js';
import { note } from '../process/output.js';
import { reportToSystemd } from '../process/systemd.js';
import { type MetricsPipeline, openPipeline } from './pipeline.js';
import { listenAddresses, type ServeSettings } from '../settings/serve-rows.js';
import { addressText, type ListenAddress } from '../settings/listen-address.js';
import type { WebGate } from './access/gate.js';

export interface Serving {
  readonly pipeline: MetricsPipeline;
  /** Addresses of the exposition; none without a server. */
  readonly urls: readonly string[];
}

/**
 * Serves while `work` runs. The server starts first: if it cannot listen, no event is taken out of a ring. A standby opens its
 * exporters while it waits for the port, so that it drains as soon as the port is free. `publishPage` adds the routes of the
 * live page, if the settings ask for it; `onBegin` runs before the first drain.
 * @throws Failure if the address or an exporter is not available; NixlTelemetryError; errors of `work`.
 */
export async function whileServing(
  settings: ServeSettings,
  rings: ProducerSettings,
  listen: boolean,
  publishPage: (server: Routes) => void,
  work: (serving: Serving) => Promise<void>,
  onBegin: () => void = () => {},
): Promise<void> {
  const addresses = listenAddresses(settings);
  const gate = listen ? await gateOf(settings) : undefined;
  const standsBy = settings.standby === 'on';
  const server = listen
    ? await (standsBy ? makeServer : listenOn)(addresses, {
        gate,
        allowedHosts: settings.allowedHost ?? [],
        publish: settings.page === 'on' ? publishEarly(publishPage) : undefined,
      })
    : undefined;
  const isTaken = standsBy && (await server?.listenIfFree()) !== undefined;
  const beforeDrains = async (): Promise<void> => {
    if (server !== undefined && isTaken) {
      const text = `stands by until ${addresses.map(addressInWords).join(', ')} is free`;
      note(text);
      reportToSystemd(text);
      await listenOnceFree(server);
    }
    onBegin();
  };
  let pipeline: MetricsPipeline | undefined;
  let endHistory: (() => void) | undefined;
  try {
    pipeline = await openPipeline(rings, settings, beforeDrains, gate);
    const { exposition, peek, attributesOf, engineOf, identify, failingExporters, findingLog } = pipeline;
    if (exposition !== undefined) server?.route('/metrics', exposition);
    server?.route('/readyz', (_, answer) => {
      const { ready, text } = readiness(peek());
      answer(ready ? 200 : 503, text);
    });
    const showsPage = server !== undefined && settings.page === 'on';
    // Findings need the same samples.
    if (showsPage || findingLog !== undefined) {
      endHistory = publishAgents(showsPage ? server : NOWHERE, pipeline, {
        hostname: rings.hostname,
        directories: rings.source.directories ?? [],
        globs: rings.source.globs ?? [],
        customErrors: rings.customEvents.filter(isCustomError),
        rankVariable: rings.rankVariable,
        attributesOf,
        engineOf,
        identify,
        sysPath: settings.sysPath,
        endedKeptMs: settings.endedKept,
        acceptMs: settings.acceptAfter,
        failingExporters,
        sizes: pipeline.sizes(),
        showFindings: pipeline.showFindings,
        showWays: pipeline.showWays,
        keepsState: settings.state === 'on',
        onIncidents: findingLog && ((...args) => findingLog.add(...args)),
      });
    }
    await work({ pipeline, urls: server?.urls ?? [] });
  } finally {
    endHistory?.();
    // Load balancers stop sending requests while the last export runs.
    server?.route('/readyz', (_, answer) => answer(503, 'stopping'));
    await pipeline?.close();
    await server?.close();
    gate?.close();
  }
}

const NOWHERE: Routes = { route() {}, change() {} };

/** The page comes before its figures, for which it asks until they are there. */
function publishEarly(publishPage: (server: Routes) => void): (server: Routes) => void {
  return (server) => {
    publishPage(server);
    for (const path of API_PATHS) server.route(path, starting);
  };
}

/** Loaded only with a web configuration, because TLS and users need many modules. */
async function gateOf({ webConfig, protectProbes }: ServeSettings): Promise<WebGate | undefined> {
  if (webConfig === undefined) return undefined;
  const { WebGate } = await import('./access/gate.js');
  return new WebGate(webConfig, protectProbes === 'on');
}

function addressInWords(address: ListenAddress): string {
  return 'port' in address && address.host !== undefined
    ? `port ${address.port} of ${address.host}`
    : addressText(address);
}
