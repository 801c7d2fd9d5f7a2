/** Hosts for a Prometheus: a serve each, and what happens there. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type RunningCommand, scrape, start, startTransferSource, temporaryDirectory } from '../../cli/command.js';
import { freePort } from '../../support/free-port.js';
import { FACTOR } from './scaled-rules.js';

export interface Host {
  readonly directory: string;
  readonly serve: RunningCommand;
  /** Host and port. */
  readonly target: string;
}

const DEAD_TTL_MS = 30_000 / FACTOR;
/** Flags of a serve that is not late, even if the machine has much else to do. */
export const CALM = ['--drain-interval', '2000'];

export async function startHost(
  directory: string,
  flags: readonly string[] = CALM,
  env: Record<string, string> = {},
): Promise<Host> {
  const serve = start(['serve', '--dir', directory, '--port', '0', '--dead-ttl', String(DEAD_TTL_MS), ...flags], env);
  const [, url] = await serve.says(/serves (http:\S+)/);
  return { directory, serve, target: new URL(url!).host };
}

/** Starts a serve that pushes by OTLP every second. `instance`: what the label will be. */
export function startPushing(directory: string, instance: string, receiver: string): RunningCommand {
  const flags = [...CALM, '--exporter', 'otlp', '--export-interval', '1000'];
  return start(['serve', '--dir', directory, ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver,
    OTEL_RESOURCE_ATTRIBUTES: `service.instance.id=${instance}`,
  });
}

/** Starts agents that work until they are ended. */
export async function startAgents(directory: string, name: string, ...flags: string[]): Promise<RunningCommand> {
  const work = ['--seconds', '0', '--rate', '20', '--buffer-size', '65536'];
  const agents = startTransferSource(['--dir', directory, '--name', name, ...work, '--ready', ...flags]);
  await agents.says(/^ready$/m);
  return agents;
}

/** Flags of a serve without a receiver for its pushes. */
export async function failingPushes(): Promise<string[]> {
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const interval = String(60_000 / FACTOR);
  return ['--exporter', 'prometheus,otlp', '--otlp-endpoint', endpoint, '--export-interval', interval];
}

/** Flags of a serve with a builder that takes every event. */
export function withBuilder(): string[] {
  const folder = temporaryDirectory();
  writeFileSync(
    path.join(folder, 'builder.mjs'),
    `export default { name: 'slow', create() {}, take(events) { return events.length; } };\n`,
  );
  const config = path.join(folder, 'config.json');
  writeFileSync(config, JSON.stringify({ builders: ['nixl', 'agents', './builder.mjs'] }));
  return ['--config', config];
}

/** Stops and continues the process again and again, until the end of the test: its collector gets too little time. */
export function starve({ child }: RunningCommand): void {
  let isStopped = false;
  const timer = setInterval(() => {
    isStopped = !isStopped;
    child.kill(isStopped ? 'SIGSTOP' : 'SIGCONT');
  }, 15);
  onTestFinished(() => {
    clearInterval(timer);
    child.kill('SIGCONT');
  });
}

/** Serves the page of a host with changes. Returns its target. */
export async function changedPage({ target }: Host, change: (page: string) => string): Promise<string> {
  const server = createServer((_, response) => {
    scrape(`http://${target}/metrics`).then(
      (page) => response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(change(page)),
      () => response.destroy(), // the test has ended the host
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
