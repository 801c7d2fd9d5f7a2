/** doctor on the outputs of serve: its port, its OTLP receiver, its own answer, and wrong settings. */
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { receiverChecks } from '../../../src/cli/doctor/receiver-check.js';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import type { ServeSettings } from '../../../src/settings/serve-rows.js';
import { HttpClient } from '../../../src/view/client/client.js';
import { freePort } from '../../support/free-port.js';
import { startGrpcReceiver, startOtlpReceiver } from '../../support/otlp-receiver.js';
import { start, startTransferSource, temporaryDirectory } from '../command.js';
import { runHere } from '../in-process.js';
import { settingsOf } from '../serve-settings.js';
import { diagnose, troubles } from './doctor.js';

/** Starts a server that gives every request this answer. */
async function answering(status: number, text = ''): Promise<number> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status).end(text));
  });
  return listening(server);
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it('finds a port that another program has, and its process', async () => {
  const port = await answering(404);
  const env = { OTEL_EXPORTER_PROMETHEUS_PORT: String(port) };
  const subject = `port ${port} of 127.0.0.1`;
  const [found] = troubles(await diagnose(['--dir', temporaryDirectory()], env, []), subject);
  expect(found).toMatchObject({ status: 'problem', finding: 'port-taken' });
  expect(found!.what).toMatch(`taken by process ${process.pid} (`);
  const elsewhere = { ...env, OTEL_EXPORTER_PROMETHEUS_HOST: '127.0.0.2' };
  expect(troubles(await diagnose(['--dir', temporaryDirectory()], elsewhere), 'port')).toEqual([]);
  const everywhere = { ...env, OTEL_EXPORTER_PROMETHEUS_HOST: '0.0.0.0' };
  expect(troubles(await diagnose(['--dir', temporaryDirectory()], everywhere), 'port')).toHaveLength(1);
});

it.each([
  ['http/protobuf', startOtlpReceiver],
  ['http/json', startOtlpReceiver],
  ['grpc', startGrpcReceiver],
])('pushes nothing but a resource to the receiver of %s', async (protocol, startReceiver) => {
  const receiver = await startReceiver();
  const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
  const { findings } = await diagnose(['--dir', temporaryDirectory()], env);
  expect(findings.at(-1)).toMatchObject({ status: 'ok', finding: 'receiver' });
  expect(receiver.headers).toHaveLength(1);
  expect(receiver.points()).toEqual([]);
});

it.each([[401], [503]])('finds a receiver that answers %d', async (status) => {
  const endpoint = `http://user:secret@127.0.0.1:${await answering(status)}/v1/metrics?key=secret`;
  const env = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint };
  const { findings, code } = await diagnose(['--dir', temporaryDirectory()], env);
  expect(findings.at(-1)).toMatchObject({ status: 'problem', finding: 'receiver-fails' });
  expect(findings.at(-1)!.what).toContain(`HTTP ${status}`);
  expect(JSON.stringify(findings)).not.toContain('secret');
  expect(code).toBe(1);
});

it('finds a receiver that is down, and settings that serve refuses', async () => {
  const env = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}` };
  const down = await diagnose(['--dir', temporaryDirectory()], env);
  expect(down.findings.at(-1)!.what).toContain('ECONNREFUSED');
  const wrong = [
    { ...env, OTEL_EXPORTER_OTLP_COMPRESSION: 'lz4' },
    { NIXL_TELEMETRY_PROMETHEUS_PORT: 'many' },
    { NIXL_OTEL_CONFIG: '/missing.yaml' },
  ];
  for (const variables of wrong) {
    const [name, value] = Object.entries(variables).at(-1)!;
    const [found] = troubles(await diagnose(['--dir', temporaryDirectory()], variables), 'settings');
    expect(found).toMatchObject({ status: 'problem', finding: 'wrong-setting' });
    expect(found!.what).toContain(name === 'NIXL_OTEL_CONFIG' ? value : name);
  }
});

it('asks a serve whether it is ready and has agents, by its address or that of its metrics', async () => {
  const directory = temporaryDirectory();
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const [, url] = await serve.says(/serves (\S+)/);
  const without = await diagnose(['--url', url!]);
  expect(without).toMatchObject({ code: 1, findings: [{ finding: 'serve-without-agents', what: 'ready, 0 agents' }] });
  const writer = new RingWriter(`${directory}/agent`, { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 1n });
  onTestFinished(() => writer.close());
  await expect.poll(async () => (await diagnose(['--url', new URL('/', url).href])).code).toBe(0);
  const env = { OTEL_EXPORTER_PROMETHEUS_PORT: new URL(url!).port };
  const { findings } = await diagnose(['--dir', directory], env);
  expect(findings.slice(-2)).toMatchObject([
    { finding: 'port', what: `process ${serve.child.pid} (nixl-otel) serves there` },
    { finding: 'serve', what: 'ready, 1 agent' },
  ]);
});

it('takes over what a serve knows of lost events', async () => {
  const directory = temporaryDirectory();
  const serve = start(['serve', '--dir', directory, '--port', '0']);
  const [, url] = await serve.says(/serves (\S+)/);
  const flags = ['--dir', directory, '--seconds', '0', '--copy-free', '--rate', '200'];
  startTransferSource(flags, { NIXL_TELEMETRY_BUFFER_SIZE: '16' });
  await expect
    .poll(async () => troubles(await diagnose(['--url', url!])))
    .toContainEqual(
      expect.objectContaining({
        status: 'problem',
        finding: 'serve-incomplete',
        what: expect.stringMatching(/^Data incomplete: agent-0: ring found full .* numbers are too low/) as string,
      }),
    );
  const here = await diagnose(['--dir', directory], { OTEL_EXPORTER_PROMETHEUS_PORT: new URL(url!).port });
  expect(here.findings.at(-1)).toMatchObject({ finding: 'serve-incomplete' });
});

it.each([
  [200, 'Hello', 'not-serve', 'status 200, Hello'],
  [503, 'Unavailable', 'not-serve', 'status 503, Unavailable'],
  [503, 'stopping', 'serve-not-ready', 'stopping'],
  [200, 'ready, 2 agents\nwarning: "/r/a" is corrupt: why', 'serve-reports', 'warning: "/r/a" is corrupt: why'],
])('judges the answer %d %s', async (status, text, name, what) => {
  const { findings } = await diagnose(['--url', `http://127.0.0.1:${await answering(status, text)}`]);
  expect(findings.at(-1)).toMatchObject({ finding: name });
  expect(findings.at(-1)!.what).toContain(what);
});

it('reports a serve that does not answer, without the password', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const { code, findings } = await diagnose(['--url', `http://user:secret@${address}`]);
  const mend = expect.stringContaining(`--listen ${address} #`) as string;
  expect(findings).toMatchObject([{ status: 'problem', finding: 'no-answer', mend }]);
  expect(JSON.stringify(findings)).not.toContain('secret');
  expect(code).toBe(1);
});

/** Starts a server that takes connections, sends this, and is silent then. Returns its port. */
async function silent(beginning = ''): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    if (beginning !== '') socket.write(beginning);
  });
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  return listening(server);
}

describe('a server that takes the connection and never answers', () => {
  it.each<[ServeSettings['otlpProtocol'], string | undefined, RegExp]>([
    // Both limits have the same time: either may come first.
    ['http/protobuf', undefined, /timed out|no answer in 200 ms/],
    ['http/json', '86400000', /no answer in 200 ms/],
    ['grpc', '86400000', /no answer in 200 ms/],
  ])('is a receiver that fails, by %s with the timeout %s', async (protocol, timeout, what) => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', timeout);
    onTestFinished(() => void vi.unstubAllEnvs());
    const flags = { otlpEndpoint: `http://127.0.0.1:${await silent()}`, otlpProtocol: protocol };
    const findings = await receiverChecks(settingsOf(flags, {}), 200);
    expect(findings).toMatchObject([{ status: 'problem', finding: 'receiver-fails' }]);
    expect(findings[0]!.what).toMatch(what);
  });

  it.each([
    ['at all', ''],
    ['in full', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nready, 2 agents'],
  ])('%s is given up', async (_, beginning) => {
    const url = new URL(`http://127.0.0.1:${await silent(beginning)}`);
    const client = new HttpClient({ name: url.host, url }, {}, 200);
    await expect(client.get(url)).rejects.toThrow('no answer in 200 ms');
  });
});

it('finds a port whose program closes each connection', async () => {
  const server = createTcpServer((socket) => socket.destroy());
  const port = await listening(server);
  const env = { OTEL_EXPORTER_PROMETHEUS_PORT: String(port) };
  const found = troubles(await diagnose(['--dir', temporaryDirectory()], env), `port ${port}`);
  expect(found).toMatchObject([{ finding: 'port-taken' }]);
});

it('refuses two subjects, and wrong ones', async () => {
  const both = await runHere(['doctor', '--dir', '/a', '--pid', '1']);
  expect(both.stderr).toContain('--dir and --pid exclude each other');
  expect((await runHere(['doctor', '--pid', '0'])).stderr).toContain('a process id, from 1 to 4194304');
  expect((await runHere(['doctor', '--url', 'ftp://host'])).stderr).toContain('begins with http:// or https://');
  expect(both.code).toBe(2);
});
