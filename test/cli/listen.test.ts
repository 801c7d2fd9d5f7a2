/** Addresses of serve: several, Unix sockets, and their place beside host and port. */
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { unusedSettings } from '../../src/serve/outputs/exporter-settings.js';
import { listenAddressIn, listenTexts } from '../../src/settings/listen-address.js';
import { listenAddresses } from '../../src/settings/serve-rows.js';
import { MAY_BE_NOBODY, startAsNobody } from '../support/as-nobody.js';
import { freePort } from '../support/free-port.js';
import { scrape, start, temporaryDirectory } from './command.js';
import { runHere } from './in-process.js';
import { resolved, settingsOf } from './serve-settings.js';

function scrapeSocket(socketPath: string, where = '/metrics'): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path: where, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}

const serving = (...flags: string[]) => start(['serve', '--dir', temporaryDirectory(), ...flags]);
const socketPath = () => path.join(temporaryDirectory(), 'serve.sock');
const modeOf = (file: string) => (lstatSync(file).mode & 0o777).toString(8);

describe('an address', () => {
  it.each([
    ['127.0.0.1:9464', { host: '127.0.0.1', port: 9464 }],
    [':0', { host: undefined, port: 0 }],
    ['[::1]:80', { host: '::1', port: 80 }],
    ['my-host:1', { host: 'my-host', port: 1 }],
    ['unix:/run/a b.sock', { socketPath: '/run/a b.sock', mode: 0o600 }],
  ])('%s is %j', (text, address) => {
    expect(listenAddressIn(text, 0o600)).toEqual(address);
  });

  it.each([
    '',
    '9464',
    'host',
    '::1:80',
    '[::1]',
    '[::g]:1',
    'a:65536',
    'a:-1',
    'http://a:1',
    'unix:',
    'unix:a',
    'unix:/',
  ])('%j is refused', async (text) => {
    const { code, stderr } = await runHere(['serve', '--dir', '/rings', `--listen=${text}`]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Allowed: host:port, [IPv6]:port, :port for all')]);
  });

  it('of a Unix socket has at most 107 bytes', () => {
    const folder = `unix:/${'é'.repeat(15)}`;
    expect(() => listenAddressIn(`${folder}/${'é'.repeat(37)}a`, 0)).not.toThrow();
    expect(() => listenAddressIn(`${folder}/${'é'.repeat(38)}a`, 0)).toThrow('at most 107 bytes');
  });
});

describe('the name of a Unix socket', () => {
  it('has at most 80 bytes', () => {
    const name = 'é'.repeat(40);
    expect(() => listenAddressIn(`unix:/run/${name}`, 0)).not.toThrow();
    expect(() => listenAddressIn(`unix:/run/${name}a`, 0)).toThrow('a name of at most 80 bytes in its folder');
  });

  it('can have so many', async () => {
    const name = 'a'.repeat(80);
    const folder = mkdtempSync('/tmp/nixl-'); // short
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const serve = serving('--listen', `unix:${folder}/${name}`);
    await serve.says(/serves unix:/);
    expect(await scrapeSocket(`${folder}/${name}`, '/livez')).toBe('alive\n');
  });
});

describe('addresses that overlap are refused, because a standby would wait for itself:', () => {
  it.each([
    ['127.0.0.1:80', '127.0.0.1:80'],
    ['0.0.0.0:80', '127.0.0.1:80'],
    ['10.0.0.7:80', ':80'],
    ['[::]:80', '0.0.0.0:80'],
    ['[::ffff:10.0.0.7]:80', '10.0.0.7:80'],
    ['[0:0:0:0:0:0:0:1]:80', '[::1]:80'],
    ['Gpu-7:80', 'gpu-7:80'],
    ['gpu-7:80', ':80'],
    ['unix:/run/a.sock', 'unix:/run/b/..//a.sock'],
  ])('%s and %s', (one, other) => {
    expect(() => listenTexts.parse!(other, ['127.0.0.1:81', one])).toThrow(
      `an address that does not overlap with ${one}`,
    );
    expect(listenTexts.problems(['127.0.0.1:81', one, other])).toEqual([
      { path: [2], text: `is "${other}"; allowed: an address that does not overlap with "${one}"` },
    ]);
  });

  it.each([
    ['127.0.0.1:80', '127.0.0.1:81'],
    ['127.0.0.1:80', '127.0.0.2:80'],
    ['0.0.0.0:80', '[::1]:80'],
    [':0', '0.0.0.0:0'],
    ['gpu-7:80', '0.0.0.0:80'], // the name may be that of an IPv6 address
    ['unix:/run/a.sock', 'unix:/run/b.sock'],
    ['[fe80::1%eth0]:80', '[fe80::1%eth1]:80'],
  ])('not %s and %s', (one, other) => {
    expect(listenTexts.parse!(other, [one])).toEqual([one, other]);
    expect(listenTexts.problems([one, other])).toEqual([]);
  });

  it('in flags and in a file, with both addresses', async () => {
    const [one, other] = ['0.0.0.0:9464', '127.0.0.1:9464'];
    const flags = ['serve', '--dir', '/rings', '--standby', 'on', '--listen', one, '--listen', other];
    const byFlags = await runHere(flags);
    expect([byFlags.code, byFlags.stderr]).toEqual([
      2,
      expect.stringContaining(`argument '${other}' is invalid. Allowed: an address that does not overlap with ${one}.`),
    ]);
    const file = path.join(temporaryDirectory(), 'c.yaml');
    writeFileSync(file, `directories: /rings\nserve:\n  listen:\n    - ${one}\n    - ${other}\n`);
    for (const args of [
      ['config', 'check', file],
      ['serve', '--config', file],
    ]) {
      const { code, stderr } = await runHere(args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(
          `${file}:5:7: serve.listen[1] is "${other}"; allowed: an address that does not overlap with "${one}"`,
        ),
      ]);
    }
  });

  it('also under two names of one address or of one folder', async () => {
    const port = await freePort();
    const folder = temporaryDirectory();
    symlinkSync(folder, path.join(folder, 'link'));
    for (const [one, other] of [
      [`127.0.0.1:${port}`, `0x7f.1:${port}`], // a name for Node; the resolver reads it as 127.0.0.1
      [`unix:${folder}/a.sock`, `unix:${folder}/link/a.sock`],
    ]) {
      const { code, stderr } = await serving('--listen', one!, '--listen', other!, '--standby', 'on').ended;
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`cannot serve on ${one} and on ${other}: they overlap`),
      ]);
    }
  });
});

it('serves the same on all addresses, and removes its socket at the end', async () => {
  const socket = socketPath();
  const serve = serving('--listen', '127.0.0.1:0', '--listen', `unix:${socket}`, '--listen', '127.0.0.1:0');
  const [, first, second] = await serve.says(/serves (http:\S+), unix:\S+serve\.sock, (http:\S+) from/);
  expect(first).not.toBe(second);
  for (const page of [await scrape(first!), await scrape(second!), await scrapeSocket(socket)]) {
    expect(page).toContain('target_info');
  }
  expect(modeOf(socket)).toBe('660');
  expect((await serve.stop('SIGTERM')).code).toBe(0);
  expect(existsSync(socket)).toBe(false);
});

it('gives its socket the permissions that are asked for', async () => {
  const socket = socketPath();
  const serve = serving('--listen', `unix:${socket}`, '--socket-mode', '0606');
  await serve.says(/serves unix:/);
  expect(modeOf(socket)).toBe('606');
});

it('takes the place of a socket that no process uses, and of no other file', async () => {
  const socket = socketPath();
  const killed = serving('--listen', `unix:${socket}`);
  await killed.says(/serves unix:/);
  await killed.stop('SIGKILL');
  expect(existsSync(socket)).toBe(true);
  const serve = serving('--listen', `unix:${socket}`);
  await serve.says(/serves unix:/);
  const second = await serving('--listen', '127.0.0.1:0', '--listen', `unix:${socket}`).ended;
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('another process answers there')]);
  expect(await scrapeSocket(socket, '/livez')).toBe('alive\n');

  const file = path.join(temporaryDirectory(), 'file');
  writeFileSync(file, 'mine');
  mkdirSync(`${file}.d`);
  for (const other of [file, `${file}.d`]) {
    const { code, stderr } = await serving('--listen', `unix:${other}`).ended;
    expect([code, stderr]).toEqual([1, expect.stringContaining('there is a file that is no socket')]);
  }
  const nowhere = await serving('--listen', 'unix:/no/such/folder/a.sock').ended;
  expect(nowhere.stderr).toContain('cannot serve on unix:/no/such/folder/a.sock: its folder does not exist, or this');
});

it.runIf(MAY_BE_NOBODY)('refuses the path of a socket to which its user may not connect', async () => {
  const socket = socketPath();
  chmodSync(path.dirname(socket), 0o755);
  await serving('--listen', `unix:${socket}`).says(/serves unix:/);
  const { code, stderr } = await startAsNobody(['serve', '--dir', '/no/rings', '--listen', `unix:${socket}`]).ended;
  const reason = 'this user may not connect to the socket there; choose another path with --listen';
  expect([code, stderr]).toEqual([1, expect.stringContaining(`cannot serve on unix:${socket}: ${reason}`)]);
});

it('removes its socket also after a change of its permissions', async () => {
  const socket = socketPath();
  const serve = serving('--listen', `unix:${socket}`);
  await serve.says(/serves unix:/);
  chmodSync(socket, 0o600);
  expect((await serve.stop('SIGTERM')).code).toBe(0);
  expect(existsSync(socket)).toBe(false);
});

it('leaves the socket of a successor', async () => {
  const socket = socketPath();
  const first = serving('--listen', `unix:${socket}`);
  await first.says(/serves unix:/);
  rmSync(socket);
  const second = serving('--listen', `unix:${socket}`);
  await second.says(/serves unix:/);
  expect((await first.stop('SIGTERM')).code).toBe(0);
  expect(await scrapeSocket(socket, '/livez')).toBe('alive\n');
  expect((await second.stop('SIGTERM')).code).toBe(0);
  expect(existsSync(socket)).toBe(false);
});

it('stands by while the process at its socket is too slow to accept connections', async () => {
  const socket = socketPath();
  const first = serving('--listen', `unix:${socket}`);
  await first.says(/serves unix:/);
  first.child.kill('SIGSTOP');
  let isFull = false;
  while (!isFull) {
    const client = connect(socket);
    onTestFinished(() => void client.destroy());
    isFull = await new Promise((resolve) => {
      client.once('connect', () => resolve(false)).once('error', () => resolve(true)); // EAGAIN
    });
  }
  const standby = serving('--listen', `unix:${socket}`, '--standby', 'on');
  await standby.says(/stands by until unix:/);
  await first.stop('SIGKILL');
  await standby.says(/serves unix:/);
});

it('keeps no address while another one is taken', async () => {
  const socket = socketPath();
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  onTestFinished(() => void other.close());
  const taken = await serving('--listen', `unix:${socket}`, '--listen', `127.0.0.1:${port}`).ended;
  expect(taken.stderr).toContain(`cannot serve on 127.0.0.1 port ${port}: the port is taken; choose another with`);
  expect(existsSync(socket)).toBe(false);

  const standby = serving('--listen', `unix:${socket}`, '--listen', `127.0.0.1:${port}`, '--standby', 'on');
  await standby.says(new RegExp(`stands by until unix:${socket}, port ${port} of 127.0.0.1 is free`));
  await new Promise((resolve) => other.close(resolve));
  await standby.says(/serves unix:/);
  expect(await scrapeSocket(socket)).toContain('target_info');
});

describe('beside host and port', () => {
  const addresses = (flags: object, environment = {}) => listenAddresses(settingsOf(flags, environment));
  const file = (text: string) => {
    const named = path.join(temporaryDirectory(), 'c.yaml');
    writeFileSync(named, text);
    return named;
  };

  it('the first of flag, variable and file counts', () => {
    const config = file('serve: { listen: [":1", "unix:/a"] }');
    expect(addresses({ config })).toEqual([
      { host: undefined, port: 1 },
      { socketPath: '/a', mode: 0o660 },
    ]);
    expect(addresses({ config: file('serve: { listen: "unix:/a", socketMode: "600" }') })).toEqual([
      { socketPath: '/a', mode: 0o600 },
    ]);
    expect(addresses({ config, port: 2 })).toEqual([{ host: '127.0.0.1', port: 2 }]);
    expect(addresses({ config }, { OTEL_EXPORTER_PROMETHEUS_PORT: '3' })).toEqual([{ host: '127.0.0.1', port: 3 }]);
    expect(addresses({ config: file('serve: { port: 4 }'), listen: [':5'] })).toEqual([{ host: undefined, port: 5 }]);
  });

  it('in one layer they exclude each other, and a variable without effect is named', async () => {
    const both = await runHere(['serve', '--dir', '/rings', '--listen', ':0', '--port', '0']);
    expect([both.code, both.stderr]).toEqual([
      2,
      expect.stringContaining('--port needs an HTTP server without --listen'),
    ]);
    const { resolution, file: written } = resolved({ config: file('serve: { listen: ":1", port: 2 }') }, {});
    expect(() => unusedSettings(resolution, written)).toThrow('serve.port needs an HTTP server without --listen');
    const variable = resolved({ listen: [':1'] }, { OTEL_EXPORTER_PROMETHEUS_PORT: '3' });
    expect(unusedSettings(variable.resolution, undefined)).toEqual([
      'OTEL_EXPORTER_PROMETHEUS_PORT (needs an HTTP server without --listen, which has host and port)',
    ]);
    const mode = await runHere(['serve', '--dir', '/rings', '--listen', ':0', '--socket-mode', '600']);
    expect(mode.stderr).toContain('--socket-mode needs an address unix:/path in --listen');
  });

  it('they start the server without the exporter prometheus, too', async () => {
    const socket = socketPath();
    const serve = serving('--exporter', 'console', '--listen', `unix:${socket}`);
    await serve.says(/serves unix:/);
    expect(await scrapeSocket(socket, '/readyz')).toMatch(/^ready/);
  });
});
