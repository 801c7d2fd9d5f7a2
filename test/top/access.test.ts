/** top and doctor ask a serve with a web configuration, and one on a Unix socket. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/rings.js';
import { Authority, type Pair } from '../support/certificates.js';
import { GuardedServe, hashOf } from '../serve/access/guarded-serve.js';
import { start, temporaryDirectory } from '../cli/command.js';
import { inShortTime } from '../cli/doctor/doctor.js';
import { runHere } from '../cli/in-process.js';

const ONCE = ['--once', '--json', '--interval', '100'];
let authority: Authority;
let server: Pair;
let client: Pair;
beforeAll(() => {
  authority = new Authority();
  server = authority.issue('server');
  client = authority.issue('client');
});

function fileWith(text: string): string {
  const file = path.join(temporaryDirectory(), 'file');
  writeFileSync(file, text);
  return file;
}

function rings(): string {
  const directory = temporaryDirectory();
  new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 }).push({ type: 0, value: 1 });
  return directory;
}

async function guarded(): Promise<GuardedServe> {
  const config = {
    tls_server_config: {
      cert_file: server.cert,
      key_file: server.key,
      client_auth_type: 'RequireAndVerifyClientCert',
      client_ca_file: authority.ca,
    },
    basic_auth_users: { reader: hashOf('secret word') },
  };
  return new GuardedServe(config, { ca: authority.ca, ...client, auth: 'reader:secret word' }, [
    '--dir',
    rings(),
  ]).started();
}

const certificates = () => ['--ca', authority.ca, '--cert', client.cert, '--key', client.key];
const agentsIn = (text: string) =>
  (JSON.parse(text) as { agents: { agent: string }[] }).agents.map(({ agent }) => agent);

describe('a serve with TLS, client certificates and users', () => {
  it('is asked with all of them, the password from a file or a variable', async () => {
    const { url } = await guarded();
    const flags = [...ONCE, '--url', url, ...certificates(), '--user', 'reader'];
    const byFile = await runHere(['top', ...flags, '--password-file', fileWith('secret word\n')]);
    expect([byFile.stderr, agentsIn(byFile.stdout)]).toEqual(['', ['agent']]);
    const byVariable = await runHere(['top', ...flags], { NIXL_OTEL_PASSWORD: 'secret word' });
    expect([byVariable.stderr, agentsIn(byVariable.stdout)]).toEqual(['', ['agent']]);
    const doctor = ['doctor', '--url', url, ...certificates(), '--user', 'reader'];
    const diagnosed = await runHere(doctor, { NIXL_OTEL_PASSWORD: 'secret word' });
    expect([diagnosed.code, diagnosed.stdout]).toEqual([0, expect.stringContaining('ready, 1 agent')]);
  });

  it('says what is missing', async () => {
    const { url } = await guarded();
    const top = (...flags: string[]) =>
      runHere(['top', ...ONCE, '--url', url, ...flags], { NIXL_OTEL_PASSWORD: 'wrong' });
    expect((await top()).stderr).toMatch(/no metrics from https:\S+: (unable to verify|self-signed)/);
    expect((await top('--ca', authority.ca)).stderr).toContain('status 403: This server needs a client certificate');
    expect((await top(...certificates())).stderr).toContain('status 401: This server needs a user and a password');
    const wrong = await top(...certificates(), '--user', 'reader');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('status 401: The user or the password is')]);
    const doctor = (...flags: string[]) => runHere(['doctor', '--url', url, ...flags], { NIXL_OTEL_PASSWORD: 'wrong' });
    expect((await doctor('--ca', authority.ca)).stdout).toContain('ready; it shows its agents only with credentials');
    const refused = await doctor(...certificates(), '--user', 'reader');
    expect([refused.code, refused.stdout]).toEqual([0, expect.stringMatching(/is wrong. \[serve-refuses\]/)]);
  });

  it('is found by doctor on its own host, with its web configuration', async () => {
    const { url, file, command } = await guarded();
    const config = fileWith(JSON.stringify({ serve: { listen: new URL(url).host, webConfig: file } }));
    const env = { NIXL_OTEL_CONFIG: config };
    const { stdout } = await runHere(['doctor', '--json', '--dir', temporaryDirectory()], env);
    expect(stdout).toContain(`process ${command.child.pid} (nixl-otel) serves there`);
    writeFileSync(file, 'basic_auth_users: 7');
    expect((await runHere(['doctor', '--json', '--dir', temporaryDirectory()], env)).stdout).toContain(
      'no object with users',
    );
  });
});

describe('a Unix socket', () => {
  it('is asked by top and doctor, and checked by doctor before serve has it', async () => {
    const socket = path.join(temporaryDirectory(), 'a.sock');
    const url = `unix:${socket}`;
    const directory = rings();
    const config = fileWith(JSON.stringify({ serve: { listen: url } }));
    const doctor = () => runHere(['doctor', '--json', '--dir', directory], { NIXL_OTEL_CONFIG: config });
    const diagnosed = async () => (await inShortTime(doctor)).stdout;
    expect(await diagnosed()).toMatch(/"subject":"unix:[^"]+","what":"free"/);
    const serve = start(['serve', '--dir', directory, '--listen', url]);
    await serve.says(/serves unix:/);
    const { stdout, stderr } = await runHere(['top', ...ONCE, '--url', url]);
    expect([stderr, agentsIn(stdout)]).toEqual(['', ['agent']]);
    expect((await runHere(['doctor', '--url', url])).stdout).toContain('ready, 1 agent');
    expect(await diagnosed()).toMatch(/"subject":"unix:[^"]+","what":"ready, 1 agent"/);
    await serve.stop('SIGKILL');
    expect(await diagnosed()).toContain('a socket that no process uses');
    const gone = await runHere(['top', ...ONCE, '--url', url]);
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringContaining(`no metrics from ${url}: connect ECONNREFUSED`),
    ]);
  });
});

describe('a flag without effect is refused:', () => {
  it.each([
    [['--ca', '/a', '--url', 'http://h'], '--ca needs --url with an address that begins with https://'],
    [['--cert', '/a', '--key', '/b'], '--cert needs --url with an address'],
    [['--cert', '/a', '--url', 'https://h'], '--cert and --key need each other'],
    [['--user', 'a', '--url', 'h'], '--user needs a password: give --password-file <file> or set NIXL_OTEL_PASSWORD'],
    [['--user', 'a', '--dir', '/rings'], '--user needs --url'],
    [['--password-file', '/a', '--url', 'h'], '--password-file needs --user'],
    [['--ca', '/none.pem', '--url', 'https://h'], '--ca: ENOENT'],
  ])('%j', async (flags, message) => {
    for (const command of ['top', 'doctor']) {
      const { code, stderr } = await runHere([command, ...flags]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });
});

it('warns of a password that other users can see', async () => {
  const { stderr } = await runHere(['top', ...ONCE, '--url', 'http://a:hidden@127.0.0.1:1']);
  expect(stderr).toContain('warning: other users of this machine can see the password in --url: give --user');
  expect(stderr).not.toContain('hidden');
});

it('warns once of a password that the network can read', async () => {
  const nowhere = ['255.255.255.255:1', '255.255.255.255:2']; // the kernel refuses to connect there
  const flags = ['--user', 'reader', '--password-file', fileWith('hidden')];
  const top = await runHere(['top', ...ONCE, ...nowhere.flatMap((one) => ['--url', one]), ...flags]);
  expect(top.stderr.match(/warning: the password .*/g)).toEqual([
    `warning: the password goes to ${nowhere.join(', ')} over http://, so the network can read it: use https:// or a Unix socket`,
  ]);
  const doctor = await runHere(['doctor', '--url', nowhere[0]!, ...flags]);
  expect(doctor.stderr).toContain(`warning: the password goes to ${nowhere[0]} over http://`);
  const local = await runHere(['doctor', '--url', '127.0.0.1:1', ...flags]);
  expect(local.stderr + doctor.stderr + top.stderr).not.toContain('hidden');
  expect(local.stderr).not.toContain('over http://');
});
