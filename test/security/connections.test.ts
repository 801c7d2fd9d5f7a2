/** Clients without credentials that hold the connections of a real serve: others are answered. */
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { GuardedServe, hashOf } from '../serve/access/guarded-serve.js';
import { Authority, type Pair } from '../support/certificates.js';
import { dial, dialMany } from '../support/dial.js';

const AUTH = 'scraper:right';
const USERS = { basic_auth_users: { scraper: hashOf('right') } };

let authority: Authority;
let server: Pair;
beforeAll(() => {
  authority = new Authority();
  server = authority.issue('server');
});

async function serving(hasTls: boolean) {
  const { cert, key } = server;
  const config = hasTls ? { ...USERS, tls_server_config: { cert_file: cert, key_file: key } } : USERS;
  const ca = hasTls ? { ca: authority.ca } : {};
  const serve = await new GuardedServe(config, { ...ca, auth: AUTH }).started();
  const agentAt = (localAddress: string, keepAlive: boolean) => {
    const agent = new (hasTls ? SecureAgent : Agent)({ localAddress, keepAlive, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    return agent;
  };
  const third = { ...ca, agent: agentAt('127.0.0.4', false) };
  return {
    serve,
    url: new URL(serve.url),
    tls: hasTls ? { ca: readFileSync(authority.ca) } : undefined,
    kept: { ...ca, auth: AUTH, agent: agentAt('127.0.0.1', true) },
    /** Statuses of a probe and of a scrape from a third address. */
    askFromThird: async () => [
      (await serve.ask('/livez', third)).status,
      (await serve.ask('/metrics', { ...third, auth: AUTH })).status,
    ],
  };
}

describe.each([
  ['without TLS', false],
  ['with TLS', true],
])('%s', (_, hasTls) => {
  it.each([
    ['/livez', 'HTTP/1.1 200 OK', 'alive\n'],
    ['/metrics', 'HTTP/1.1 401 Unauthorized', 'This server needs a user and a password.\n'],
  ])('a client without credentials has the whole answer of %s, and no connection any more', async (where, ...parts) => {
    const { url, tls, askFromThird } = await serving(hasTls);
    const attack = [...(await dialMany(128, url, '127.0.0.2', tls)), ...(await dialMany(128, url, '127.0.0.3', tls))];
    const answers = await Promise.all(attack.map((one) => one.ask(where)));
    await Promise.all(attack.map(({ closed }) => closed));
    for (const answer of answers) {
      expect([answer.slice(0, parts[0].length), answer.slice(-parts[1].length)]).toEqual(parts);
      expect(answer).toMatch(/^connection: close\r$/im);
    }
    expect(await askFromThird()).toEqual([200, 200]);
  });

  it('a scraper keeps its connection, and a third client is answered, while others hold all they can', async () => {
    const { serve, url, tls, kept, askFromThird } = await serving(hasTls);
    const scrape = async () => {
      expect((await serve.ask('/metrics', kept)).status).toBe(200);
      return Object.values(kept.agent.freeSockets).flat();
    };
    const connection = await scrape();
    expect(connection).toHaveLength(1);
    await dialMany(128, url, '127.0.0.1'); // send nothing, also no handshake
    for (const { socket } of await dialMany(128, url, '127.0.0.2', tls)) socket.write('GET /livez HTTP/1.1\r\n');
    await dialMany(10, url, '127.0.0.1', tls);
    expect(await askFromThird()).toEqual([200, 200]);
    expect((await scrape())[0]).toBe(connection[0]);
    expect(await serve.refusals('connection_limit')).toBeGreaterThan(0);
    const { code, stderr } = await serve.command.stop('SIGTERM');
    expect([code, stderr.match(/a client at \S+ was refused \(connection_limit\): .*/g)]).toEqual([
      0,
      [
        expect.stringMatching(
          /127\.0\.0\.[12] .*connections.* were open, and a new one took the place of an idle one\.$/,
        ),
      ],
    ]);
  });
});

it('where no credentials are asked for, clients that have asked are not preferred to a new one', async () => {
  const { cert, key } = server;
  const config = { tls_server_config: { cert_file: cert, key_file: key, client_auth_type: 'RequestClientCert' } };
  const { url } = await new GuardedServe(config, { ca: authority.ca }).started();
  const tls = { ca: readFileSync(authority.ca) };
  const first = await dialMany(128, new URL(url), '127.0.0.2', tls);
  const second = await dialMany(127, new URL(url), '127.0.0.3', tls);
  for (const one of [...first, ...second]) await one.ask('/livez');
  const third = await dial(new URL(url), '127.0.0.4', tls);
  const fourth = await dial(new URL(url), '127.0.0.5', tls);
  await first[0]!.closed;
  for (const one of [third, fourth]) expect(await one.ask('/livez')).toMatch(/^HTTP\/1.1 200 /);
});
