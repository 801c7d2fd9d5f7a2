/** Hosts on which alerts fire: their agents, and the settings of serve. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { type RunningCommand, startTransferSource, temporaryDirectory } from '../../cli/command.js';
import type { Pair } from '../../support/certificates.js';
import { freePort } from '../../support/free-port.js';
import { EXPORT_MS } from './scaled-rules.js';

/** Flags of a serve that is not late, even if the machine has much else to do. */
export const CALM = ['--drain-interval', '2000'];

/** Flags of a serve that has a live page, even if it pushes: without one it judges no ends. */
export const WITH_PAGE = ['--exporter', 'prometheus', '--port', '0'];

/** Starts agents that work until they are ended. Their transfers take a time beside which the load of this machine is small. */
export async function startAgents(directory: string, name: string, ...flags: string[]): Promise<RunningCommand> {
  const work = ['--seconds', '0', '--rate', '20', '--buffer-size', '65536', '--copy-free', '--base-us', '5000'];
  const agents = startTransferSource(['--dir', directory, '--name', name, ...work, '--ready', ...flags]);
  await agents.says(/^ready$/m);
  return agents;
}

/** Flags of a serve that is scraped, and has no receiver for its pushes. */
export async function failingPushes(): Promise<string[]> {
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  return ['--exporter', 'prometheus,otlp', '--otlp-endpoint', endpoint, '--export-interval', String(EXPORT_MS)];
}

/** Flags of a custom exporter that fails. */
export function failingExporter(): string[] {
  const file = path.join(temporaryDirectory(), 'failing.mjs');
  writeFileSync(
    file,
    `export default {
      export: (metrics, done) => done({ code: 1, error: new Error('no receiver') }),
      forceFlush: async () => {},
      shutdown: async () => {},
    };\n`,
  );
  return ['--exporter', file];
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

/** Flags of a serve with this certificate. Returns as well what makes its web configuration unusable. */
export function withCertificate({ cert, key }: Pair): { flags: string[]; breakFile: () => void } {
  const file = path.join(temporaryDirectory(), 'web.yml');
  writeFileSync(file, stringify({ tls_server_config: { cert_file: cert, key_file: key } }));
  const flags = ['--exporter', 'prometheus', '--port', '0', '--web-config', file]; // only a page has a certificate
  return { flags, breakFile: () => writeFileSync(file, 'tls_server_config: {}\n') };
}

/** Stops the process for 20 ms of each 25 ms, until the end of the test: its collector gets too little time. */
export function starve({ child }: RunningCommand): void {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const change = (): void => {
    isStopped = !isStopped;
    child.kill(isStopped ? 'SIGSTOP' : 'SIGCONT');
    timer = setTimeout(change, isStopped ? 20 : 5);
  };
  change();
  onTestFinished(() => {
    clearTimeout(timer);
    child.kill('SIGCONT');
  });
}
