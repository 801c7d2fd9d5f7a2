/** OTLP receivers that are down, refuse or never answer: the reports of serve, and its counts. */
import { readFileSync } from 'node:fs';
import { createServer, type Server as HttpServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import * as grpc from '@grpc/grpc-js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.js';
import { TLS } from '../support/otlp-receiver.js';
import { type RunningCommand, scrape, start, temporaryDirectory, until, valueOf } from './command.js';

type Listening = { close: () => Promise<void> };
type Receiver = (port: number) => Promise<Listening>;

/** Makes the server listen. Its end closes connections, too, so that the port is free again. */
async function listening(server: Server, port: number): Promise<Listening & { port: number }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, close };
}

function answering(status: number, headers: Record<string, string> = {}): Receiver {
  const server = (): HttpServer =>
    createServer(
      (request, response) => void request.resume().on('end', () => response.writeHead(status, headers).end()),
    );
  return (port) => listening(server(), port);
}

const silent: Receiver = (port) =>
  listening(
    createTcpServer((socket) => void socket.resume()),
    port,
  );

const withUnknownCertificate: Receiver = (port) =>
  listening(createSecureServer({ cert: readFileSync(TLS.certificate), key: readFileSync(TLS.key) }), port);

function grpcAnswering(code: grpc.status | undefined): Receiver {
  return async (port) => {
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
    const answer: grpc.handleUnaryCall<Buffer, Buffer> = (_, done) =>
      code === undefined ? done(null, Buffer.alloc(0)) : done({ code, details: 'not you' });
    server.addService({ Export }, { Export: answer });
    const credentials = grpc.ServerCredentials.createInsecure();
    await new Promise<void>((resolve, reject) =>
      server.bindAsync(`127.0.0.1:${port}`, credentials, (error) => (error ? reject(error) : resolve())),
    );
    const close = (): Promise<void> => Promise.resolve(server.forceShutdown());
    onTestFinished(close);
    return { close };
  };
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

const HTTP: readonly (readonly [string, Receiver | undefined, RegExp])[] = [
  ['is down', undefined, /connect ECONNREFUSED 127\.0\.0\.1:\d+/],
  ['answers 401', answering(401), /HTTP 401 Unauthorized/],
  ['answers 403', answering(403), /HTTP 403 Forbidden/],
  ['answers 503', answering(503), /HTTP 503 Service Unavailable/],
  ['answers 429', answering(429, { 'retry-after': '3600' }), /HTTP 429 Too Many Requests/],
  ['never answers', silent, /Request timed out|timed out after 450 ms/],
];

describe.each(['http/protobuf', 'http/json'])('a receiver of %s', (protocol) => {
  it.each(HTTP)('that %s is one line at the beginning and one at the end', async (_, receiver, reason) => {
    const port = await freePort();
    const broken = await receiver?.(port);
    const serve = startServe(protocol, `http://user:${SECRET}@127.0.0.1:${port}/v1/metrics?key=${SECRET}`);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    expect(await scrape(url!)).toMatch(/nixl_exporter_failures_total\{[^}]*exporter="prometheus"[^}]*\} 0\n/);
    await until(async () => failures(await scrape(url!)) >= 3);
    await broken?.close();
    await answering(200)(port);
    await serve.says(/works again/);
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    const [begun, ...rest] = exportLines(stderr);
    // On a slow machine the first export may time out before it fails.
    expect(begun).toContain(`exporter otlp failed: http://127.0.0.1:${port}: `);
    expect([begun, ...rest].join('\n')).toMatch(reason);
    expect(rest.at(-1)).toMatch(/exporter otlp works again, after \d+ failed exports/);
    // Between the servers no process listens, and a closed connection is reset: both are other kinds of failure.
    expect(rest.slice(0, -1).filter((line) => !/now fails for another reason: /.test(line))).toEqual([]);
    expect(stderr).not.toContain(SECRET);
  });
});

describe('a receiver of grpc', () => {
  it.each([
    ['is down', undefined, /14 UNAVAILABLE: .*ECONNREFUSED/],
    ['refuses', grpcAnswering(grpc.status.UNAUTHENTICATED), /16 UNAUTHENTICATED: not you/],
    ['is overloaded', grpcAnswering(grpc.status.RESOURCE_EXHAUSTED), /8 RESOURCE_EXHAUSTED: not you/],
  ])('that %s is one line, and one when that is over', { timeout: 120_000 }, async (_, receiver, reason) => {
    const port = await freePort();
    const broken = await receiver?.(port);
    const serve = startServe('grpc', `http://127.0.0.1:${port}`);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await until(async () => failures(await scrape(url!)) >= 3);
    await broken?.close();
    await grpcAnswering(undefined)(port);
    await serve.says(/works again/);
    const { code, stderr } = await serve.stop('SIGTERM');
    expect(code).toBe(0);
    const lines = exportLines(stderr);
    expect(lines[0]).toContain(`exporter otlp failed: http://127.0.0.1:${port}: `);
    expect(lines.join('\n')).toMatch(reason);
    expect(lines.filter((line) => /failed:|works again/.test(line))).toHaveLength(2);
    expect(lines.length).toBeLessThan(7);
  });
});

describe('a receiver that cannot be reached', () => {
  it('because its certificate is unknown is one line', async () => {
    const port = await freePort();
    await withUnknownCertificate(port);
    const serve = startServe('http/protobuf', `https://127.0.0.1:${port}/v1/metrics`);
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await until(async () => failures(await scrape(url!)) >= 3);
    const { stderr } = await serve.stop('SIGTERM');
    expect(exportLines(stderr)).toEqual([
      expect.stringMatching(/exporter otlp failed: https:\S+: .*(DEPTH_ZERO_SELF_SIGNED_CERT|self-signed)/),
    ]);
  });

  it('because its name is unknown is one line', async () => {
    const serve = startServe('http/protobuf', 'http://no-such-host.invalid:4318/v1/metrics', '1000');
    const [, url] = await serve.says(/serves (http:\S+) from/);
    await until(async () => failures(await scrape(url!)) >= 3);
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
