/** OTLP receivers that are down, refuse or never answer: the reports of serve, and its counts. */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Server, Socket } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { TLS } from '../support/otlp-receiver.js';
import { type RunningCommand, scrape, start, temporaryDirectory, until, valueOf } from './command.js';

/** Listens at this port of this host until the end of the test. */
async function listening(server: Server, port: number): Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
}

/** Listens at the port with a service that answers as this function says at each push: with a status, or undefined for OK. */
async function grpcReceiver(port: number, codeNow: () => grpc.status | undefined): Promise<void> {
  const server = new grpc.Server();
  const same = (bytes: Buffer): Buffer => bytes;
  const Export: grpc.MethodDefinition<Buffer, Buffer> = {
    path: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  const answer: grpc.handleUnaryCall<Buffer, Buffer> = (_, done) => {
    const code = codeNow();
    if (code === undefined) done(null, Buffer.alloc(0));
    else done({ code, details: 'not you' });
  };
  server.addService({ Export }, { Export: answer });
  const credentials = grpc.ServerCredentials.createInsecure();
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error) => (error ? reject(error) : resolve())),
  );
  onTestFinished(() => server.forceShutdown());
}

const SECRET = 'hunter2';

function startServe(protocol: string, url: string, interval = '500'): RunningCommand {
  const flags = ['--exporter', 'prometheus,otlp', '--port', '0', '--export-interval', interval];
  return start(['serve', '--dir', temporaryDirectory(), ...flags, '--otlp-protocol', protocol], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url,
  });
}

function failures(page: string): number {
  return valueOf(page, 'nixl_exporter_failures_total', 'exporter="otlp"');
}

/** Returns the lines about exports. Only serve itself may write such lines. */
function exportLines(stderr: string): string[] {
  return stderr.split('\n').filter((line) => /export|otlp|retry/i.test(line) && !/ serves http/.test(line));
}

/** Goes through outages of a receiver, which begins and ends them, and expects one line at the beginning and end of each. */
async function expectOutages(
  serve: RunningCommand,
  receiver: string,
  outages: readonly (readonly [what: string, begin: () => unknown, end: () => unknown, reason: RegExp])[],
): Promise<void> {
  const [, url] = await serve.says(/serves (http:\S+) from/);
  expect(await scrape(url!)).toMatch(/nixl_exporter_failures_total\{[^}]*exporter="prometheus"[^}]*\} 0\n/);
  let seen = 0;
  for (const [what, begin, end, reason] of outages) {
    await begin();
    const before = failures(await scrape(url!));
    await until(async () => failures(await scrape(url!)) >= before + 2);
    await end();
    const lines = (): string[] => exportLines(serve.stderr).slice(seen);
    await until(() => lines().at(-1)?.includes('works again'));
    expect(lines().join('\n'), what).toMatch(reason);
    seen += lines().length;
  }
  const { code, stderr } = await serve.stop('SIGTERM');
  expect(code).toBe(0);
  // On a slow machine an export may time out, also before it fails for its reason.
  const edges = exportLines(stderr).filter((line) => !/now fails for another reason: /.test(line));
  const [begun, ended] = [new RegExp(`exporter otlp failed: ${receiver}: `), /works again, after \d+ failed exports/];
  for (const [i, line] of edges.entries()) expect(line).toMatch(i % 2 === 0 ? begun : ended);
  expect(stderr).not.toContain(SECRET);
}

describe('each outage is one line at its beginning and one at its end:', () => {
  it.each(['http/protobuf', 'http/json'])('%s', async (protocol) => {
    const port = await freePort();
    type Answer = (response: ServerResponse) => unknown;
    const good: Answer = (response) => response.end();
    let answer = good;
    const server = createServer((request, response) => void request.resume().on('end', () => answer(response)));
    const outage = (what: string, reason: RegExp, broken: Answer) =>
      [what, () => (answer = broken), () => (answer = good), reason] as const;
    const status = (code: number, reason: string, headers = {}) =>
      outage(`HTTP ${code}`, new RegExp(`HTTP ${code} ${reason}`), (response) =>
        response.writeHead(code, headers).end(),
      );
    const serve = startServe(protocol, `http://user:${SECRET}@127.0.0.1:${port}/v1/metrics?key=${SECRET}`, '200');
    const outages = [
      ['down', () => {}, () => listening(server, port), /connect ECONNREFUSED 127\.0\.0\.1:\d+/],
      status(401, 'Unauthorized'),
      status(403, 'Forbidden'),
      status(503, 'Service Unavailable'),
      status(429, 'Too Many Requests', { 'retry-after': '3600' }),
      outage('no answer', /Request timed out|timed out after 180 ms/, () => {}),
    ] as const;
    // Both protocols have one transport.
    const tried = protocol === 'http/json' ? outages.slice(0, 2) : outages;
    await expectOutages(serve, `http://127.0.0.1:${port}`, tried);
  });

  it('grpc', async () => {
    const port = await freePort();
    let code: grpc.status | undefined;
    const outage = (broken: grpc.status, reason: RegExp) =>
      [grpc.status[broken], () => (code = broken), () => (code = undefined), reason] as const;
    await expectOutages(startServe('grpc', `http://127.0.0.1:${port}`, '200'), `http://127.0.0.1:${port}`, [
      ['down', () => {}, () => grpcReceiver(port, () => code), /14 UNAVAILABLE: .*ECONNREFUSED/],
      outage(grpc.status.UNAUTHENTICATED, /16 UNAUTHENTICATED: not you/),
      outage(grpc.status.RESOURCE_EXHAUSTED, /8 RESOURCE_EXHAUSTED: not you/),
    ]);
  });
});

describe('a receiver that cannot be reached', () => {
  it('because its certificate is unknown is one line', async () => {
    const port = await freePort();
    await listening(createSecureServer({ cert: readFileSync(TLS.certificate), key: readFileSync(TLS.key) }), port);
    const serve = startServe('http/protobuf', `https://127.0.0.1:${port}/v1/metrics`);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await until(async () => failures(await scrape(url!)) >= 2);
    const { stderr } = await serve.stop('SIGTERM');
    expect(exportLines(stderr)).toEqual([
      expect.stringMatching(/exporter otlp failed: https:\S+: .*(DEPTH_ZERO_SELF_SIGNED_CERT|self-signed)/),
    ]);
  });

  it('because its name is unknown is one line', async () => {
    const serve = startServe('http/protobuf', 'http://no-such-host.invalid:4318/v1/metrics', '1000');
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await until(async () => failures(await scrape(url!)) >= 2);
    const { stderr } = await serve.stop('SIGTERM');
    expect(exportLines(stderr)[0]).toMatch(/exporter otlp failed: http:\/\/no-such-host.invalid:4318: /);
    expect(exportLines(stderr).join('\n')).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect(exportLines(stderr).length).toBeLessThan(3);
  });
});

it('failures of each exporter are counted from 0 on in naming otel, too', async () => {
  const flags = ['--exporter', 'prometheus,otlp', '--port', '0', '--naming', 'otel', '--export-interval', '100'];
  const serve = start(['serve', '--dir', temporaryDirectory(), ...flags], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
  });
  const [, url] = await serve.says(/serves (http:\S+) from/);
  await until(async () => valueOf(await scrape(url!), 'nixl_exporter_failures_total', 'exporter_name="otlp"') > 1);
  expect(await scrape(url!)).toMatch(/nixl_exporter_failures_total\{nixl_exporter_name="prometheus"[^}]*\} 0\n/);
});
