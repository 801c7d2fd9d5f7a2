/** A serve of many agents, clients without credentials that attack it from a process of their own, and what a scraper sees meanwhile. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { ask, Authority } from '../support/certificates.js';
import { eventsFor, writeRing } from '../support/rings.js';
import { RunningCommand, start, temporaryDirectory } from '../cli/command.js';
import { GuardedServe } from '../serve/access/guarded-serve.js';

/** Growth of the memory that an attack may cause. */
export const MOST_GROWTH_KB = 64 * 1024;
const AGENTS = 150;
/** Scrapes before and during an attack. */
const SCRAPES = 5;
function fleet(): string {
  const directory = temporaryDirectory();
  for (let i = 0; i < AGENTS; i++) writeRing(path.join(directory, `agent-${i}`), 4, eventsFor(4));
  return directory;
}

export async function plainServe() {
  const command = start(['serve', '--dir', fleet(), '--port', '0', '--series', 'full', '--dead-ttl', '3600000']);
  const [, url] = await command.says(/serves (http:\S+) from/);
  return { command, url: new URL(url!) };
}

export async function secureServe() {
  const { cert, key } = new Authority().issue('server');
  const config = { tls_server_config: { cert_file: cert, key_file: key } };
  const { command, url } = await new GuardedServe(config, {}, ['--dir', fleet(), '--series', 'full']).started();
  return { command, url: new URL(url) };
}

export type Served = Awaited<ReturnType<typeof plainServe>>;

function residentKb({ command }: Served): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${command.child.pid}/status`, 'utf8'))![1]);
}

/** Scrapes from another address than that of the attack. Returns the median time of a scrape and the most memory. */
export async function scrapes(served: Served): Promise<{ medianMs: number; mostKb: number }> {
  const times: number[] = [];
  let mostKb = 0;
  while (times.length < SCRAPES) {
    const begin = performance.now();
    const { status } = await ask(served.url, { verifies: false });
    times.push(performance.now() - begin);
    expect(status).toBe(200);
    mostKb = Math.max(mostKb, residentKb(served));
  }
  return { medianMs: times.sort((a, b) => a - b)[SCRAPES >> 1]!, mostKb };
}

export function attack({ url }: Served, connections: number, requests: string): RunningCommand {
  const order = {
    host: '127.0.0.1',
    port: Number(url.port),
    isSecure: url.protocol === 'https:',
    connections,
    requests,
  };
  return new RunningCommand(process.execPath, [
    new URL('attacker.mjs', import.meta.url).pathname,
    JSON.stringify(order),
  ]);
}

export const requests = (count: number, where: (i: number) => string, headers = '') =>
  Array.from({ length: count }, (_, i) => `GET ${where(i)} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`).join('');
export const metrics = () => '/metrics';
