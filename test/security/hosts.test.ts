/** The host that requests name: a page of another site, whose name resolves to 127.0.0.1, reads nothing of a real serve. */
import { mkdtempSync, rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GuardedServe } from '../serve/access/guarded-serve.js';
import { run, start, temporaryDirectory } from '../cli/command.js';
import { Authority } from '../support/certificates.js';
import { dial } from '../support/dial.js';

async function serving(...flags: string[]) {
  const serve = start([
    'serve',
    '--dir',
    temporaryDirectory(),
    ...(flags.includes('--listen') ? [] : ['--port', '0']),
    ...flags,
  ]);
  const [, url] = await serve.says(/serves (http:\S+?|unix:\S+?),? /);
  return { serve, url: url!.startsWith('unix:') ? url!.slice(5) : new URL(url!) };
}

/** Returns the status of the answer to these lines. */
async function statusOf(url: URL | string, lines: readonly string[], tls?: { rejectUnauthorized: boolean }) {
  const dialed = await dial(url, '127.0.0.1', tls);
  dialed.socket.write(`${[...lines, 'connection: close'].join('\r\n')}\r\n\r\n`);
  await dialed.closed;
  return Number(dialed.answer.split(' ')[1]);
}

const asking = (host: string) => ['GET /api/v1/agents HTTP/1.1', `host: ${host}`];
const absolute = (uri: string, host = 'localhost') => [`GET ${uri} HTTP/1.1`, `host: ${host}`];

describe('a serve on a loopback address', () => {
  it('answers for localhost and loopback addresses, and refuses other hosts', async () => {
    const { serve, url } = await serving();
    const own = [
      'localhost',
      'LocalHost:9464',
      'localhost.',
      '127.0.0.1:1',
      '127.9.9.9',
      '[::1]:9464',
      '[::ffff:127.0.0.1]',
    ];
    const others = [
      'evil.example',
      'evil.example:9464',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'notlocalhost',
      '10.0.0.7',
      '[::2]',
      '0.0.0.0',
      '',
      'localhost@evil.example',
      'evil.example:localhost',
    ];
    for (const host of own) expect([host, await statusOf(url, asking(host))]).toEqual([host, 200]);
    for (const host of others) expect([host, await statusOf(url, asking(host))]).toEqual([host, 421]);
    await serve.says(/a client at 127\.0\.0\.1 was refused \(wrong_host\): it asked for the host "evil\.example"\. /);
  });

  it.each(['/metrics', '/', '/livez', '/readyz', '/api/v1/history', '/nowhere'])(
    'refuses other hosts at %s, with a sentence',
    async (where) => {
      const { url } = await serving();
      const answer = await (await dial(url)).ask(where, 'x: y\r\n', 'evil.example');
      expect(answer).toMatch(
        /^HTTP\/1\.1 421 .*\r\nconnection: close\r\n.*\r\n\r\nThis server listens on a loopback address, and answers for localhost.*--allowed-host.*\n$/s,
      );
      expect(answer).not.toContain('evil');
    },
  );

  it('refuses a request with two headers Host, whichever comes first', async () => {
    const { url } = await serving();
    for (const hosts of [
      ['localhost', 'evil.example'],
      ['evil.example', 'localhost'],
      ['localhost', 'localhost'],
    ]) {
      expect(
        await statusOf(url, ['GET /livez HTTP/1.1', ...hosts.map((host, i) => `${['host', 'HOST'][i]}: ${host}`)]),
      ).toBe(400);
    }
  });

  it('takes the host of a URI before that of the header, and its path', async () => {
    const { url } = await serving();
    expect(await statusOf(url, absolute('http://localhost:9464/metrics', 'evil.example'))).toBe(200);
    expect(await statusOf(url, absolute('HTTP://127.0.0.1/api/v1/agents?detail=none'))).toBe(200);
    expect(await statusOf(url, absolute('http://localhost'))).toBe(200);
    expect(await statusOf(url, absolute('http://localhost?x=/metrics'))).toBe(200);
    expect(await statusOf(url, absolute('http://localhost/nowhere'))).toBe(404);
    expect(await statusOf(url, absolute('http://evil.example/metrics'))).toBe(421);
    expect(await statusOf(url, absolute('http://localhost@evil.example/metrics'))).toBe(421);
    expect(await statusOf(url, absolute('//evil.example/metrics'))).toBe(404);
  });

  it('answers HTTP/1.0 without a host, as probes ask', async () => {
    const { url } = await serving();
    expect(await statusOf(url, ['GET /livez HTTP/1.0'])).toBe(200);
    expect(await statusOf(url, ['GET /livez HTTP/1.0', 'host: evil.example'])).toBe(421);
  });

  it('answers for the hosts of --allowed-host and of --listen', async () => {
    const { url } = await serving('--allowed-host', 'gpu-7.example', '--allowed-host', '[fd00::7]');
    for (const host of ['GPU-7.example:80', '[fd00::7]:9464', 'localhost'])
      expect(await statusOf(url, asking(host))).toBe(200);
    expect(await statusOf(url, asking('gpu-8.example'))).toBe(421);
    const { url: any } = await serving('--allowed-host', '*');
    expect(await statusOf(any, asking('gpu-8.example'))).toBe(200);
  });

  it('checks hosts under TLS as well', async () => {
    const { cert, key } = new Authority().issue('server');
    const serve = await new GuardedServe(
      { tls_server_config: { cert_file: cert, key_file: key } },
      { verifies: false },
    ).started();
    const url = new URL(serve.url);
    expect(await statusOf(url, asking('evil.example'), { rejectUnauthorized: false })).toBe(421);
    expect(await statusOf(url, asking('localhost'), { rejectUnauthorized: false })).toBe(200);
    expect(await serve.refusals('wrong_host')).toBe(1);
  });
});

describe('any host is answered', () => {
  it('by a serve on all addresses, whose clients are not of this machine alone', async () => {
    const { url } = await serving('--listen', '0.0.0.0:0');
    (url as URL).hostname = '127.0.0.1';
    expect(await statusOf(url, asking('pod.example'))).toBe(200);
    expect(await statusOf(url, absolute('http://pod.example/metrics'))).toBe(200);
    expect(await statusOf(url, [...asking('a'), 'host: b'])).toBe(400);
  });

  it('at a Unix socket, which no browser asks', async () => {
    const folder = mkdtempSync('/tmp/nixl-');
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { url } = await serving('--listen', `unix:${folder}/serve.sock`);
    expect(await statusOf(url, asking('any.example'))).toBe(200);
  });
});

it.each([
  [['--host', '0.0.0.0', '--allowed-host', 'a'], /--allowed-host needs the HTTP server on a loopback address/],
  [['--allowed-host', 'http://a/'], /--allowed-host.*Allowed: an address or a host name, without a port/],
  [['--allowed-host', 'a:80'], /--allowed-host.*Allowed: an address or a host name, without a port/],
])('%j is refused', async (flags, message) => {
  const { code, stderr } = await run(['serve', '--dir', temporaryDirectory(), '--port', '0', ...flags]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});
