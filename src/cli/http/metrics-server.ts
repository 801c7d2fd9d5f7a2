/** HTTP server: /metrics, probes, and limits against clients that stall or flood. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gzip } from 'node:zlib';
import { reasonOf } from '../../errors.js';
import { Failure } from '../process/failure.js';
import { note, warnOnce } from '../process/output.js';

/** Answers a request once, now or later. */
export type Handler = (request: IncomingMessage, answer: Answer) => void;
/** Text gets the line end that it lacks; bytes are sent as they are. `onSent`: called when they are no longer in use. */
export type Answer = (
  status: number,
  content: string | Uint8Array,
  contentType?: string,
  headers?: Headers,
  onSent?: () => void,
) => void;
type Headers = Readonly<Record<string, string>>;

export interface MetricsServer {
  /** Address of the metrics. */
  readonly url: string;
  /** Sets the handler of a path. */
  route(path: string, handler: Handler): void;
  /** Waits for pending answers, at most two seconds. */
  close(): Promise<void>;
}

const METRICS = '/metrics';
/** Text at `/` for clients that are no browser. */
export const INDEX = `nixl-otel: metrics of NVIDIA NIXL agents. They are at ${METRICS}`;
const TEXT = 'text/plain; charset=utf-8';
/** Smaller answers are sent uncompressed. */
const GZIP_FROM_BYTES = 1024;
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 2_500,
  maxHeaderSize: 16_384,
};
const MAX_HEADERS = 64;
const MAX_CONNECTIONS = 256;
/** Longer than most scrape intervals, so that a scraper keeps its connection. */
const KEEP_ALIVE_MS = 75_000;
/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 30_000;
const CLOSE_DEADLINE_MS = 2_000;
/** Time between two tries to listen, short because no process drains meanwhile. */
const TAKEN_PAUSE_MS = 50;

interface Limits {
  readonly stalledMs?: number;
}

/** Starts the server. @throws Failure if it cannot listen on the address. */
export async function listenOn(host: string, port: number, limits?: Limits): Promise<MetricsServer> {
  const server = await listenIfFree(host, port, limits);
  if (server === undefined) throw cannotServe(host, port, LISTEN_PROBLEMS[TAKEN]!);
  return server;
}

/** Waits until the port is free. @throws Failure for any other reason not to listen. */
export async function listenOnceFree(host: string, port: number): Promise<MetricsServer> {
  for (;;) {
    const server = await listenIfFree(host, port);
    if (server !== undefined) return server;
    await pause(TAKEN_PAUSE_MS);
  }
}

/** Returns undefined if the port is taken. @throws Failure for any other reason not to listen. */
export async function listenIfFree(
  host: string,
  port: number,
  { stalledMs = STALLED_MS }: Limits = {},
): Promise<MetricsServer | undefined> {
  const handlers = new Map<string, Handler>([
    ['/', (_, answer) => answer(200, INDEX)],
    ['/livez', (_, answer) => answer(200, 'alive')],
    ['/readyz', (_, answer) => answer(503, 'starting')],
    [METRICS, (_, answer) => answer(503, 'Starting.')],
  ]);
  const server = createServer({ ...LIMITS, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
    respond(request, response, handlers),
  );
  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(stalledMs);
  if (!(await isListening(server, host, port))) return undefined;
  const { address, port: actualPort, family } = server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  return {
    url: `http://${name}:${actualPort}${METRICS}`,
    route: (path, handler) => handlers.set(path, handler),
    close: () => close(server),
  };
}

function respond(request: IncomingMessage, response: ServerResponse, handlers: ReadonlyMap<string, Handler>): void {
  const answer: Answer = (status, content, contentType = TEXT, headers = {}, onSent = () => {}) => {
    const body = typeof content !== 'string' || content.endsWith('\n') ? content : `${content}\n`;
    send(request, response, status, { 'content-type': contentType, ...headers }, body, onSent);
  };
  const handler = handlers.get(request.url?.split('?', 1)[0] ?? '');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    answer(405, 'Allowed methods: GET and HEAD.');
  } else if (handler === undefined) {
    answer(404, `Not found. The metrics are at ${METRICS}`);
  } else {
    try {
      handler(request, answer);
    } catch (error) {
      // A failing handler must not end the process.
      note(`${request.url} failed: ${reasonOf(error)}`, 'error');
      answer(500, 'This request failed.');
    }
  }
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  own: Headers,
  body: string | Uint8Array,
  onSent: () => void,
): void {
  const headers = { vary: 'accept-encoding', 'x-content-type-options': 'nosniff', ...own };
  if (body.length < GZIP_FROM_BYTES || !acceptsGzip(request)) {
    if (response.closed) return onSent();
    response.once('close', onSent);
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    return;
  }
  // Runs on another thread: compressing megabytes takes milliseconds.
  gzip(body, { level: 1 }, (error, packed) => {
    onSent();
    if (error !== null) return void response.destroy(error);
    const length = packed.length;
    response.writeHead(status, { ...headers, 'content-encoding': 'gzip', 'content-length': length }).end(packed);
  });
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',');
  return accepted.some((one) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one));
}

/** Returns false if the port is taken. */
async function isListening(server: Server, host: string, port: number): Promise<boolean> {
  server.listen({ host, port });
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code === TAKEN) return false;
    throw cannotServe(host, port, LISTEN_PROBLEMS[code] ?? message);
  }
  // While no file descriptor is free, some versions of Node report each connection that they cannot accept.
  const warn = warnOnce();
  server.on('error', (error) => warn(`a connection could not be accepted: ${reasonOf(error)}`));
  return true;
}

function cannotServe(host: string, port: number, reason: string): Failure {
  return new Failure(`cannot serve on ${host} port ${port}: ${reason}`);
}

const TAKEN = 'EADDRINUSE';

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  [TAKEN]: 'the port is taken; choose another with --port (0 takes any free one)',
  EACCES: 'not permitted; choose a port above 1023 with --port',
  EADDRNOTAVAIL: 'this machine does not have that address; choose another with --host',
  ENOTFOUND: 'the host name is not known; choose another with --host',
  EAI_AGAIN: 'the host name is not known; choose another with --host',
};

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), CLOSE_DEADLINE_MS);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
