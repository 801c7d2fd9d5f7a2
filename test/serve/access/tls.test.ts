/** TLS and client certificates of a real serve. test/servers/stalled-clients.test.ts has connections that time out. */
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Authority, type Pair, type Shown } from '../../support/certificates.js';
import { until, valueOf } from '../../cli/command.js';
import { dial } from '../../support/dial.js';
import { GuardedServe, hashOf } from './guarded-serve.js';

let authority: Authority;
let server: Pair;
beforeAll(() => {
  authority = new Authority();
  server = authority.issue('server');
});

const tlsOf = (pair: Pair, more: object = {}) => ({
  tls_server_config: { cert_file: pair.cert, key_file: pair.key, ...more },
});

/** Opens a connection. Resolves to the socket, or to the error with which the handshake ends. */
function handshake(url: string, options: ConnectionOptions = {}): Promise<TLSSocket | Error> {
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), ca: readFileSync(authority.ca), ...options });
  onTestFinished(() => void socket.destroy());
  return new Promise((resolve) => {
    socket.once('secureConnect', () => resolve(socket));
    socket.on('error', resolve);
  });
}

/** Seconds since the epoch. */
const expiryOf = ({ cert }: Pair): number => Date.parse(new X509Certificate(readFileSync(cert)).validTo) / 1000;

describe('TLS', () => {
  it('has the page, its figures and the metrics, and refuses plain HTTP and TLS 1.1, which it counts', async () => {
    const serve = await new GuardedServe(tlsOf(server), { ca: authority.ca }).started();
    expect(serve.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/metrics$/);
    for (const where of ['/', '/metrics', '/api/v1/agents', '/livez', '/readyz']) {
      expect((await serve.ask(where)).status, where).toBe(200);
    }
    await expect(serve.ask('/metrics', {})).rejects.toThrow('unable to verify');
    await expect(serve.ask(serve.url.replace('https:', 'http:'))).rejects.toThrow();
    await until(async () => (await serve.refusals('handshake')) > 0);
    await serve.command.says(/refused \(handshake\): TLS could not begin: http request/);
    const before = await serve.refusals('handshake');
    const old = await handshake(serve.url, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' });
    expect((old as Error).message).toMatch(/alert protocol version/);
    await until(async () => (await serve.refusals('handshake')) > before);
    expect((await serve.command.stop('SIGTERM')).code).toBe(0);
  });

  it('has only the versions, suites and curves of the file, and resumes no session', async () => {
    const more = {
      max_version: 'TLS12',
      cipher_suites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'],
      curve_preferences: ['CurveP384'],
    };
    const serve = await new GuardedServe(tlsOf(server, more), { ca: authority.ca }).started();
    const socket = (await handshake(serve.url)) as TLSSocket;
    expect([socket.getProtocol(), socket.getCipher().name]).toEqual(['TLSv1.2', 'ECDHE-ECDSA-AES256-GCM-SHA384']);
    const wrong: ConnectionOptions[] = [
      { minVersion: 'TLSv1.3' },
      { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' },
      { ecdhCurve: 'P-256', maxVersion: 'TLSv1.2' },
    ];
    for (const options of wrong) expect(await handshake(serve.url, options)).toBeInstanceOf(Error);
    const again = (await handshake(serve.url, { session: socket.getSession()! })) as TLSSocket;
    expect(again.isSessionReused()).toBe(false);
  });

  it('closes a connection without a handshake when serve ends, before its handshake times out', async () => {
    const serve = await new GuardedServe(tlsOf(server), { ca: authority.ca }).started();
    const { hostname, port } = new URL(serve.url);
    const socket = connectPlain(Number(port), hostname).on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await new Promise((resolve) => socket.once('connect', resolve));
    const { code, stderr } = await serve.command.stop('SIGTERM');
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('handshake')]);
  });

  it('has the limits of plain HTTP on headers', async () => {
    const serve = await new GuardedServe(tlsOf(server), { ca: authority.ca }).started();
    const client = await dial(new URL(serve.url), '127.0.0.1', { ca: readFileSync(authority.ca) });
    expect(await client.ask('/metrics', `large: ${'x'.repeat(20_000)}\r\n`)).toMatch(/^HTTP\/1.1 431 /);
    expect((await serve.ask('/livez')).status).toBe(200);
  });

  it('takes a new certificate at the next connection, and keeps the old one while the new one cannot be used', async () => {
    const serve = await new GuardedServe(tlsOf(server), { ca: authority.ca }).started();
    const subject = async () => ((await handshake(serve.url)) as TLSSocket).getPeerCertificate().subject.CN;
    const expiry = async () => valueOf(await serve.page(), 'nixl_http_certificate_expiry');
    expect(await subject()).toBe('server');
    expect(await expiry()).toBe(expiryOf(server));
    const next = authority.issue('next', undefined, 30);
    serve.write(tlsOf(next));
    expect(await subject()).toBe('next');
    expect(await expiry()).toBe(expiryOf(next));
    expect(expiryOf(next)).toBeGreaterThan(expiryOf(server));
    expect(await serve.isStale()).toBe(false);

    serve.write(tlsOf({ cert: server.cert, key: next.key }));
    expect(await subject()).toBe('next');
    expect(await serve.isStale()).toBe(true);
    await serve.command.says(
      /error: the web configuration has changed and cannot be used; .*key_file: the key does not belong to the certificate/,
    );
    serve.write({ basic_auth_users: {} });
    expect(await subject()).toBe('next');
    serve.write('');
    expect(await subject()).toBe('next');
    await serve.command.says(/it asks for nothing in place of TLS, NoClientCert: restart serve/);

    serve.write(tlsOf(server));
    expect(await subject()).toBe('server');
    expect(await serve.isStale()).toBe(false);
  });

  it('warns of a certificate that has expired', async () => {
    const expired = authority.issue('expired', undefined, -1);
    const serve = await new GuardedServe(tlsOf(expired), {}).started();
    await serve.command.says(/warning: the certificate of \S+web\.yml expired at 20\S+Z: clients refuse it/);
    await expect(serve.ask('/livez', { ca: authority.ca })).rejects.toThrow('certificate has expired');
  });
});

it('no kind of proof is dropped by a file that was cut off', async () => {
  const auth = 'scraper:right';
  const client = authority.issue('client');
  const cut = { client_auth_type: 'RequireAndVerifyClientCert', client_ca_file: authority.ca };
  const wants = { ...cut, client_allowed_sans: ['localhost'] };
  const whole = { ...tlsOf(server, wants), basic_auth_users: { scraper: hashOf('right') } };
  const serve = await new GuardedServe(whole, { ca: authority.ca, ...client, auth }).started();
  for (const part of [
    tlsOf(server, wants),
    { ...whole, ...tlsOf(server) },
    { ...whole, ...tlsOf(server, cut) },
    { basic_auth_users: whole.basic_auth_users },
  ]) {
    serve.write(part);
    expect((await serve.ask('/metrics', { ca: authority.ca, auth })).status).toBe(403);
    expect((await serve.ask('/metrics', { ca: authority.ca, ...client })).status).toBe(401);
    expect(await serve.isStale()).toBe(true);
  }
  await serve.command.says(
    /it asks for users in place of TLS, RequireAndVerifyClientCert, client_allowed_sans, users: restart serve/,
  );
});

describe('client certificates', () => {
  const wants = (ca: string, more: object = {}) => ({
    client_auth_type: 'RequireAndVerifyClientCert',
    client_ca_file: ca,
    ...more,
  });

  it('are needed: none, and those of another authority, are refused in words and counted', async () => {
    const client = authority.issue('client');
    const right = { ca: authority.ca, ...client };
    const serve = await new GuardedServe(tlsOf(server, wants(authority.ca)), right).started();
    expect((await serve.ask('/metrics')).status).toBe(200);
    const without = await serve.ask('/metrics', { ca: authority.ca });
    expect([without.status, without.text]).toEqual([403, expect.stringContaining('needs a client certificate')]);
    const stranger = new Authority('stranger').issue('client');
    const other = await serve.ask('/', { ca: authority.ca, ...stranger });
    expect([other.status, other.text]).toEqual([
      403,
      expect.stringMatching(/client certificate is refused: UNABLE_TO/),
    ]);
    expect(await Promise.all(['no_certificate', 'wrong_certificate'].map((one) => serve.refusals(one)))).toEqual([
      1, 1,
    ]);
    await serve.command.says(/a client at 127\.0\.0\.1 was refused \(no_certificate\)/);
    expect((await serve.ask('/livez', { ca: authority.ca, ...stranger })).status).toBe(403);
    // The handshake needs none, so a kubelet can probe.
    const probe = await serve.ask('/readyz', { ca: authority.ca });
    expect([probe.status, probe.text]).toEqual([200, 'ready\n']);
    expect(await serve.refusals('no_certificate')).toBe(1);
  });

  it('need one of the allowed names', async () => {
    const names = ['spiffe://cluster/scraper', '10.1.2.3'];
    const spiffe = authority.issue('spiffe', 'URI:spiffe://cluster/scraper,DNS:other.example');
    const right = { ca: authority.ca, ...spiffe };
    const config = tlsOf(server, wants(authority.ca, { client_allowed_sans: names }));
    const serve = await new GuardedServe(config, right).started();
    expect((await serve.ask('/metrics')).status).toBe(200);
    const status = async (name: string, sans: string) =>
      (await serve.ask('/metrics', { ca: authority.ca, ...authority.issue(name, sans) })).status;
    expect(await status('address', 'IP:10.1.2.3')).toBe(200);
    expect(await status('longer', 'URI:spiffe://cluster/scraper/x')).toBe(403);
    expect(await status('domain', 'DNS:10.1.2.3')).toBe(403);
    expect(await serve.refusals('wrong_certificate')).toBe(2);
  });

  it('cannot be replaced by others in an open connection', async () => {
    const client = authority.issue('verified');
    const names = ['spiffe://cluster/scraper'];
    const serve = new GuardedServe(tlsOf(server, wants(authority.ca, { client_allowed_sans: names })), {});
    const { url } = await serve.started();
    const [cert, key] = [client.cert, client.key].map((file) => readFileSync(file));
    const socket = await handshake(url, { cert: cert!, key: key!, maxVersion: 'TLSv1.2' });
    if (socket instanceof Error) throw socket;
    const ended = new Promise((resolve) => socket.on('error', resolve).on('close', resolve));
    const again = new Promise((resolve) => socket.renegotiate({ rejectUnauthorized: false }, resolve));
    const error = await Promise.race([again, ended]);
    expect(error).toBeInstanceOf(Error);
  });

  it.each([
    ['RequestClientCert', 200, 200],
    ['RequireAnyClientCert', 403, 200],
    ['VerifyClientCertIfGiven', 200, 403],
    ['RequireAndVerifyClientCert', 403, 403],
  ])('%s: without one %d, with that of another authority %d', async (type, without, stranger) => {
    const config = tlsOf(server, { client_auth_type: type }); // public authorities count
    const serve = await new GuardedServe(config, { ca: authority.ca }).started();
    const other = new Authority('stranger').issue('client');
    const statuses = [await serve.ask('/metrics'), await serve.ask('/metrics', { ca: authority.ca, ...other })];
    expect(statuses.map(({ status }) => status)).toEqual([without, stranger]);
  });

  const shown = (pair: Pair): Shown => ({ ca: authority.ca, ...pair });

  it('of an authority that was replaced are refused, on open connections as well', async () => {
    const [former, present] = [new Authority('former'), new Authority('present')];
    const [old, young] = [former.issue('old'), present.issue('young')];
    const serve = await new GuardedServe(tlsOf(server, wants(former.ca)), shown(young)).started();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = () => serve.ask('/metrics', { ...shown(old), agent });
    expect((await ask()).status).toBe(200);
    serve.write(tlsOf(server, wants(present.ca)));
    // Its request is the first that serve gets after the change.
    await expect(ask()).rejects.toThrow(/socket hang up|ECONNRESET/);
    expect((await ask()).status).toBe(403);
    expect((await serve.ask('/metrics')).status).toBe(200);
  });

  it('keep their connection for one more answer if only the certificate of the server changes', async () => {
    const client = authority.issue('client');
    const serve = await new GuardedServe(tlsOf(server, wants(authority.ca)), shown(client)).started();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const connection = async () => (await serve.ask('/livez', { ...shown(client), agent })).headers.connection;
    expect(await connection()).toBe('keep-alive');
    serve.write(tlsOf(authority.issue('renewed'), wants(authority.ca)));
    expect(await connection()).toBe('close');
    expect(await connection()).toBe('keep-alive');
  });

  it('are taken if their handshake is slow and nothing changes', async () => {
    const client = authority.issue('slow');
    const serve = await new GuardedServe(tlsOf(server, wants(authority.ca)), shown(client)).started();
    const { port, answered, release } = await holdBack(serve.url);
    const asked = serve.ask(`https://127.0.0.1:${port}/metrics`, shown(client));
    await answered;
    release();
    expect((await asked).status).toBe(200);
  });

  it('count for the authority with which their handshake began', async () => {
    const [former, present] = [new Authority('former'), new Authority('present')];
    const [old, young] = [former.issue('old'), present.issue('young')];
    const serve = await new GuardedServe(tlsOf(server, wants(former.ca)), shown(young)).started();
    const { port, answered, release } = await holdBack(serve.url);
    const asked = serve.ask(`https://127.0.0.1:${port}/metrics`, shown(old)).catch(String);
    await answered;
    serve.write(tlsOf(server, wants(present.ca)));
    expect((await serve.ask('/metrics')).status).toBe(200);
    release();
    expect(await asked).toMatch(/socket hang up|ECONNRESET/);
    expect((await serve.ask('/metrics', shown(old))).status).toBe(403);
  });
});

/**
 * Starts a proxy that sends the first bytes of its client, which begin a handshake, and all others after release(). `answered`:
 * resolves when the server has answered the first ones.
 */
async function holdBack(url: string): Promise<{ port: number; answered: Promise<unknown>; release: () => void }> {
  const { hostname, port } = new URL(url);
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  let answered!: () => void;
  const answer = new Promise<void>((resolve) => (answered = resolve));
  const proxy = createServer((client) => {
    const upstream = connectPlain(Number(port), hostname);
    onTestFinished(() => void upstream.destroy());
    upstream.once('data', () => answered()).on('error', () => {});
    client
      .on('error', () => {})
      .once('data', (first) => {
        client.pause();
        upstream.write(first);
        upstream.pipe(client);
        void released.then(() => client.pipe(upstream));
      });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return { port: (proxy.address() as AddressInfo).port, answered: answer, release };
}
