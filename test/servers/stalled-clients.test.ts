/** Clients that stall for the time that a serve allows. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { expect, it } from 'vitest';
import { Authority } from '../support/certificates.js';
import { dial } from '../support/dial.js';
import { scrape, start, temporaryDirectory, until } from '../cli/command.js';
import { attack, metrics, MOST_GROWTH_KB, plainServe, requests, scrapes, type Served } from '../security/attack.js';
import { GuardedServe } from '../serve/access/guarded-serve.js';

function socketsOf({ command }: Served): number {
  const folder = `/proc/${command.child.pid}/fd`;
  return readdirSync(folder).filter((name) => isSocket(path.join(folder, name))).length;
}

function isSocket(descriptor: string): boolean {
  try {
    return readlinkSync(descriptor).startsWith('socket:');
  } catch {
    return false; // closed meanwhile
  }
}

it('clients that read nothing of a large page are disconnected, and the memory returns', async () => {
  const served = await plainServe();
  const idle = await scrapes(served);
  const socketsBefore = socketsOf(served);
  const attacker = attack(served, 120, requests(18, metrics));
  await attacker.says(/^sent$/m);
  await until(() => socketsOf(served) > socketsBefore);
  await until(() => socketsOf(served) <= socketsBefore);
  await until(async () => (await scrapes(served)).mostKb - idle.mostKb < MOST_GROWTH_KB / 2);
});

/** Clients whose requests do not end, in their headers or their body. Resolves once both are closed. */
async function unended(url: URL, tls?: ConnectionOptions): Promise<void> {
  const [headers, body] = [await dial(url, '127.0.0.1', tls), await dial(url, '127.0.0.1', tls)];
  headers.socket.write('GET /metrics HTTP/1.1\r\nhost: localhost\r\n');
  body.socket.write('POST /metrics HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\n');
  await Promise.all([headers.closed, body.closed]);
}

it('connections whose request or handshake does not end are closed, while others are answered', async () => {
  const [plainUrl] = await start(['serve', '--dir', temporaryDirectory(), '--port', '0']).says(/http:\S+metrics/);
  const authority = new Authority();
  const { cert, key } = authority.issue('server');
  const config = { tls_server_config: { cert_file: cert, key_file: key } };
  const secure = await new GuardedServe(config, { ca: authority.ca }).started();
  const areAnswered = async (): Promise<void> => {
    expect(await scrape(plainUrl)).toContain('target_info');
    expect((await secure.ask('/livez')).status).toBe(200);
  };
  const withoutHandshake = await dial(new URL(secure.url));
  const closed = [
    withoutHandshake.closed,
    unended(new URL(plainUrl)),
    unended(new URL(secure.url), { ca: readFileSync(authority.ca) }),
  ];
  await areAnswered();
  await Promise.all(closed);
  await areAnswered();
});
