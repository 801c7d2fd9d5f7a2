/** Hosts with a serve each, and a Prometheus with the shipped rules that scrapes them or gets their pushes. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type RunningCommand, scrape, start } from '../../cli/command.js';
import type { NAMINGS } from '../spelled-fleet.js';
import { CALM, failingExporter, failingPushes } from './hosts.js';
import { type AlertingBackend, EXPORT_MS, FACTOR, startReceiving, startScaled } from './scaled-rules.js';
import { Targets } from './targets.js';

type Naming = (typeof NAMINGS)[number];

export interface AlertingFleet {
  readonly prometheus: AlertingBackend;
  /** Alert on a serve that has ended. */
  readonly ended: string;
  /** Flags of a serve of which an export fails. */
  readonly failing: () => Promise<string[]> | string[];
  /** Starts a serve whose series have this name as `instance`. */
  add(instance: string, directory: string, flags?: readonly string[]): Promise<RunningCommand>;
  /** Starts a serve as `add` does. It reports all its rings as suspect while `isSuspect` returns true. */
  addSuspect(instance: string, directory: string, isSuspect: () => boolean): Promise<void>;
}

const DEAD_TTL_MS = 30_000 / FACTOR;

function serve(directory: string, flags: readonly string[], env: Record<string, string> = {}): RunningCommand {
  return start(['serve', '--dir', directory, '--dead-ttl', String(DEAD_TTL_MS), ...flags], env);
}

/** Returns the address of its page. */
export async function pageOf(command: RunningCommand): Promise<URL> {
  const [, url] = await command.says(/serves (https?:[^\s,]+)/);
  return new URL(url!);
}

export class ScrapedFleet implements AlertingFleet {
  readonly ended = 'NixlOtelDown';
  readonly failing = failingPushes;
  readonly prometheus: AlertingBackend;
  readonly #naming: Naming;
  readonly #targets: Targets;

  static async start(naming: Naming): Promise<ScrapedFleet> {
    const targets = new Targets();
    return new ScrapedFleet(naming, targets, await startScaled({ scrape_configs: [targets.job] }));
  }

  private constructor(naming: Naming, targets: Targets, prometheus: AlertingBackend) {
    this.#naming = naming;
    this.#targets = targets;
    this.prometheus = prometheus;
  }

  async add(instance: string, directory: string, flags: readonly string[] = CALM): Promise<RunningCommand> {
    const command = serve(directory, ['--port', '0', '--naming', this.#naming, ...flags]);
    this.#targets.add(instance, await pageOf(command));
    return command;
  }

  async addSuspect(instance: string, directory: string, isSuspect: () => boolean): Promise<void> {
    const url = await pageOf(serve(directory, ['--port', '0', '--naming', this.#naming, ...CALM]));
    const changed = (page: string): string => page.replace(/^(nixl_ring_suspect\{.*\}) 0$/gm, '$1 1');
    const changing = await listen((_, response) => {
      scrape(url.href).then(
        (page) =>
          response
            .writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
            .end(isSuspect() ? changed(page) : page),
        () => response.destroy(), // the test has ended the serve
      );
    });
    this.#targets.add(instance, changing);
  }

  remove(instance: string): void {
    this.#targets.remove(instance);
  }
}

export class PushedFleet implements AlertingFleet {
  readonly ended = 'NixlOtelSilent';
  readonly failing = failingExporter;
  readonly prometheus: AlertingBackend;
  readonly #naming: Naming;
  readonly #pushTo: string;

  static async start(naming: Naming): Promise<PushedFleet> {
    const prometheus = await startReceiving();
    return new PushedFleet(naming, prometheus, prometheus.pushTo);
  }

  private constructor(naming: Naming, prometheus: AlertingBackend, pushTo: string) {
    this.#naming = naming;
    this.prometheus = prometheus;
    this.#pushTo = pushTo;
  }

  async add(instance: string, directory: string, flags: readonly string[] = CALM): Promise<RunningCommand> {
    const command = this.#serve(instance, directory, flags, this.#pushTo);
    await command.says(/exports from|serves http/);
    return command;
  }

  async addSuspect(instance: string, directory: string, isSuspect: () => boolean): Promise<void> {
    const changing = await listen((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const push = Buffer.concat(parts).toString();
        const body = isSuspect() ? suspected(push) : push;
        fetch(this.#pushTo, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(
          ({ status }) => response.writeHead(status).end(),
          () => response.destroy(), // the test has ended Prometheus
        );
      });
    });
    const protocol = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
    await this.#serve(instance, directory, CALM, changing.href, protocol).says(/exports from/);
  }

  #serve(instance: string, directory: string, flags: readonly string[], pushTo: string, env = {}): RunningCommand {
    const usual = ['--exporter', 'otlp', '--export-interval', String(EXPORT_MS), '--naming', this.#naming];
    return serve(directory, [...usual, ...flags], {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: pushTo,
      OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${instance}`,
      ...env,
    });
  }
}

interface Push {
  resourceMetrics: {
    scopeMetrics: { metrics: { name: string; gauge?: { dataPoints: { asDouble: number }[] } }[] }[];
  }[];
}

/** Returns a push in JSON in which all rings are suspect. */
function suspected(text: string): string {
  const push = JSON.parse(text) as Push;
  const metrics = push.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics).flatMap(({ metrics }) => metrics);
  for (const { name, gauge } of metrics) {
    if (name === 'nixl.ring.suspect') for (const point of gauge!.dataPoints) point.asDouble = 1;
  }
  return JSON.stringify(push);
}

async function listen(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}
