/** OTLP over HTTP through an egress proxy, which alone knows the name of the receiver. */
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startGrpcReceiver, startOtlpReceiver, TLS } from '../support/otlp-receiver.js';
import { type RunningCommand, start, temporaryDirectory, until } from './command.js';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const KNOWS_PROXIES = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);

const NAME = 'collector.invalid';

/** Starts a proxy that forwards requests, and connections for TLS and gRPC, to the same port of this host. */
async function startProxy(): Promise<{ url: string; targets: string[] }> {
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    targets.push(incoming.url!);
    const { method, headers } = incoming;
    const { port, pathname } = new URL(incoming.url!);
    const outgoing = request({ host: '127.0.0.1', port, path: pathname, method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  server.on('connect', ({ url }, socket: Socket) => {
    targets.push(url!);
    const upstream = connect(Number(url!.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    for (const one of [socket, upstream]) sockets.add(one.on('error', () => {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, targets };
}

function startServe(url: string, env: NodeJS.ProcessEnv, protocol = 'http/protobuf'): RunningCommand {
  const flags = ['--exporter', 'otlp', '--otlp-protocol', protocol, '--export-interval', '500'];
  return start(['serve', '--dir', temporaryDirectory(), ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url.replace('127.0.0.1', NAME),
    ...env,
  });
}

describe.runIf(KNOWS_PROXIES)('with this Node.js', () => {
  it('pushes through HTTP_PROXY', async () => {
    const [receiver, proxy] = [await startOtlpReceiver(), await startProxy()];
    startServe(receiver.url, { HTTP_PROXY: proxy.url });
    await until(() => receiver.headers.length > 0);
    expect(proxy.targets[0]).toContain(`http://${NAME}:`);
  });

  it('pushes through HTTPS_PROXY, with the certificates of the variables', async () => {
    const [receiver, proxy] = [await startOtlpReceiver({ tls: true }), await startProxy()];
    startServe(receiver.url, {
      https_proxy: proxy.url,
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: TLS.certificate,
      OTEL_EXPORTER_OTLP_CLIENT_KEY: TLS.key,
      NODE_TLS_REJECT_UNAUTHORIZED: '0', // the name is not in the certificate
    });
    await until(() => receiver.headers.length > 0);
    expect(proxy.targets[0]).toContain(`${NAME}:`);
  });

  it('pushes past the proxy to names in NO_PROXY', async () => {
    const [receiver, proxy] = [await startOtlpReceiver(), await startProxy()];
    const serve = startServe(receiver.url, { HTTP_PROXY: proxy.url, NO_PROXY: '.invalid' });
    await serve.says(/exporter otlp (failed|now fails for another reason): .*(ENOTFOUND|EAI_AGAIN)/);
    expect(proxy.targets).toEqual([]);
  });
});

describe.runIf(!KNOWS_PROXIES)('with a Node.js without proxies', () => {
  it('says that the variable is not used, unless the receiver is an exception', async () => {
    const [receiver, proxy] = [await startOtlpReceiver(), await startProxy()];
    const serve = startServe(receiver.url, { HTTP_PROXY: proxy.url });
    await serve.says(/does not use HTTP_PROXY with Node.js \d+\.\d+\.\d+: it needs Node.js 24.5/);
    for (const list of ['*', 'other, .invalid', NAME]) {
      const excepted = startServe(receiver.url, { HTTP_PROXY: proxy.url, NO_PROXY: list });
      await excepted.says(/exporter otlp failed/);
      expect(excepted.stderr).not.toContain('does not use');
    }
  });
});

it('pushes past the proxy to this host', async () => {
  const [receiver, proxy] = [await startOtlpReceiver(), await startProxy()];
  const serve = startServe('', { HTTP_PROXY: proxy.url, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: receiver.url });
  await until(() => receiver.headers.length > 0);
  expect(proxy.targets).toEqual([]);
  expect(serve.stderr).not.toContain('does not use');
});

it('pushes by grpc through http_proxy', async () => {
  const [receiver, proxy] = [await startGrpcReceiver(), await startProxy()];
  startServe(receiver.url, { http_proxy: proxy.url }, 'grpc');
  await until(() => receiver.headers.length > 0);
  expect(proxy.targets[0]).toContain(`${NAME}:`);
});
