/** Backends that accept OTLP, as JSON or protobuf over HTTP or over grpc, and store the pushes. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { onTestFinished } from 'vitest';
import { instanceIn, type JsonPush, type OtlpPoint, pointsIn } from './otlp-points.js';

export type { OtlpPoint } from './otlp-points.js';

export interface OtlpReceiver {
  url: string;
  /** Returns the points of the last push. */
  points: () => OtlpPoint[];
  /** Returns the points of all pushes since the start. */
  allPoints: () => OtlpPoint[];
  /** Returns service.instance.id of each push, without repetitions. */
  instances: () => (string | undefined)[];
  /** Headers of all pushes, in order. */
  headers: Record<string, unknown>[];
}

/**
 * A certificate that signs itself, for 127.0.0.1: server, client and authority at once. It lasts until 2126. Made by
 *
 *   openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj '/CN=nixl-otel tests' \
 *     -addext 'subjectAltName=IP:127.0.0.1,DNS:localhost' -keyout key.pem -out certificate.pem
 */
export const TLS = {
  certificate: new URL('tls/certificate.pem', import.meta.url).pathname,
  key: new URL('tls/key.pem', import.meta.url).pathname,
};

const { 'opentelemetry.proto.collector.metrics.v1.MetricsService': service } = loadSync(
  new URL('otlp-metrics.proto', import.meta.url).pathname,
  { longs: String },
) as unknown as Record<string, grpc.ServiceDefinition>;
/** Decodes a push. */
export const fromProtobuf = service!['Export']!.requestDeserialize as (bytes: Buffer) => JsonPush;

/** Starts one. With TLS it accepts only clients with the certificate. `mostBytes`: of a push. */
export async function startOtlpReceiver({
  tls = false,
  host = '127.0.0.1',
  mostBytes = Infinity,
} = {}): Promise<OtlpReceiver> {
  const pushes: JsonPush[] = [];
  const headers: Record<string, unknown>[] = [];
  const take = (request: IncomingMessage, bytes: Buffer): void => {
    headers.push(request.headers);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
    const isJson = request.headers['content-type'] === 'application/json';
    pushes.push(isJson ? (JSON.parse(body.toString()) as JsonPush) : fromProtobuf(body));
  };
  const onRequest: Parameters<typeof createServer>[1] = (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const bytes = Buffer.concat(parts);
      if (bytes.length > mostBytes) return void response.writeHead(413).end();
      take(request, bytes);
      response.setHeader('content-type', request.headers['content-type']!);
      response.end(request.headers['content-type'] === 'application/json' ? '{}' : '');
    });
  };
  const server: Server = tls ? createSecureServer(secrets(), onRequest) : createServer(onRequest);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const url = `${tls ? 'https' : 'http'}://${inUrl(host)}:${port}/v1/metrics`;
  return { url, headers, ...pushed(pushes) };
}

function pushed(pushes: readonly JsonPush[]): Pick<OtlpReceiver, 'points' | 'allPoints' | 'instances'> {
  return {
    points: () => pointsIn(pushes.at(-1)),
    allPoints: () => pushes.flatMap(pointsIn),
    instances: () => [...new Set(pushes.map(instanceIn))],
  };
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function secrets() {
  const certificate = readFileSync(TLS.certificate);
  const key = readFileSync(TLS.key);
  return { cert: certificate, key, ca: certificate, requestCert: true, rejectUnauthorized: true };
}

/** Starts one like startOtlpReceiver(), over grpc. */
export async function startGrpcReceiver({
  tls = false,
  host = '127.0.0.1',
  mostBytes = 4 * 2 ** 20,
} = {}): Promise<OtlpReceiver> {
  const pushes: JsonPush[] = [];
  const headers: Record<string, unknown>[] = [];
  const server = new grpc.Server({ 'grpc.max_receive_message_length': mostBytes });
  server.addService(service!, {
    Export: ({ request, metadata }: grpc.ServerUnaryCall<JsonPush, object>, done: grpc.sendUnaryData<object>) => {
      headers.push(metadata.getMap());
      pushes.push(request);
      done(null, {});
    },
  });
  const { ca, cert, key } = secrets();
  const credentials = tls
    ? grpc.ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true)
    : grpc.ServerCredentials.createInsecure();
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`${inUrl(host)}:0`, credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  onTestFinished(() => server.forceShutdown());
  return {
    url: `${tls ? 'https' : 'http'}://${inUrl(host)}:${port}`,
    headers,
    ...pushed(pushes),
  };
}
