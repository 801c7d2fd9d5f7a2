/** The HTTP side: one page, a few words for who comes by, and limits for who does not behave. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzip } from 'node:zlib';
import { diag } from '@opentelemetry/api';
import type { IMetricReader } from '@opentelemetry/sdk-metrics';
import { reasonOf } from '../../errors.js';
import { Failure } from '../process/failure.js';
import { note, warnOnce } from '../process/output.js';
import { oneAtATime } from './one-at-a-time.js';

/** Answers in its own time, once: with a status and a text. */
export type PageWriter = (request: IncomingMessage, answer: Answer) => void;
export type Answer = (status: number, text: string, contentType?: string, headers?: Headers) => void;
type Headers = Readonly<Record<string, string>>;

export interface MetricsServer {
  /** Of the page of metrics. */
  readonly url: string;
  /** What is at a path, from now on. */
  route(path: string, page: PageWriter): void;
  /** Lets answers that are under way end, for at most two seconds. */
  close(): Promise<void>;
}

const METRICS = '/metrics';
/** What is at `/` for who is no browser. */
export const INDEX = `nixl-otel: metrics of NVIDIA NIXL agents. They are at ${METRICS}`;
const TEXT = 'text/plain; charset=utf-8';
/** OpenTelemetry's exporter names only `text/plain`, which Prometheus 3 warns about. */
const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';
/** Less is not worth packing. */
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
/** A client that takes nothing of its answer for this long is cut off. */
const STALLED_MS = 30_000;
const CLOSE_DEADLINE_MS = 2_000;

/** @throws Failure when the address cannot be had. */
export async function listenOn(
  host: string,
  port: number,
  { stalledMs = STALLED_MS }: { readonly stalledMs?: number } = {},
): Promise<MetricsServer> {
  const pages = new Map<string, PageWriter>([
    ['/', (_, answer) => answer(200, INDEX)],
    ['/livez', (_, answer) => answer(200, 'alive')],
    ['/readyz', (_, answer) => answer(503, 'starting')],
    [METRICS, (_, answer) => answer(503, 'Starting.')],
  ]);
  const server = createServer({ ...LIMITS, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
    respond(request, response, pages),
  );
  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(stalledMs);
  await listen(server, host, port);
  const { address, port: actualPort, family } = server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  return {
    url: `http://${name}:${actualPort}${METRICS}`,
    route: (path, page) => pages.set(path, page),
    close: () => close(server),
  };
}

/** The page of a reader, which collects for whoever asks. `onFailure` is called for each page that could not be made. */
export function pageWriter(reader: IMetricReader, onFailure: () => void): PageWriter {
  // A page of many agents is megabytes: however many ask, one is made at a time.
  const page = oneAtATime(async () => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) diag.error('collecting metrics for the page', ...errors);
    const { pageText } = await import('./page-text.js'); // only serve with exporter prometheus needs its serialiser
    return pageText(resourceMetrics);
  });
  return (_, answer) => {
    page().then(
      (text) => answer(200, text, PROMETHEUS_TEXT),
      (error: unknown) => {
        onFailure();
        answer(500, `# failed to export metrics: ${reasonOf(error)}`);
      },
    );
  };
}

function respond(request: IncomingMessage, response: ServerResponse, pages: ReadonlyMap<string, PageWriter>): void {
  const answer: Answer = (status, text, contentType = TEXT, headers = {}) => {
    const body = text.endsWith('\n') ? text : `${text}\n`;
    send(request, response, status, { 'content-type': contentType, ...headers }, body);
  };
  const page = pages.get(request.url?.split('?', 1)[0] ?? '');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    answer(405, 'Only GET and HEAD are answered here.');
  } else if (page === undefined) {
    answer(404, `There is nothing here. The metrics are at ${METRICS}`);
  } else {
    try {
      page(request, answer);
    } catch (error) {
      // One page that fails must not take the others with it.
      note(`${request.url} failed: ${reasonOf(error)}`, 'error');
      answer(500, 'This page failed.');
    }
  }
}

function send(request: IncomingMessage, response: ServerResponse, status: number, own: Headers, body: string): void {
  const headers = { vary: 'accept-encoding', 'x-content-type-options': 'nosniff', ...own };
  if (body.length < GZIP_FROM_BYTES || !acceptsGzip(request)) {
    response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    return;
  }
  // On a thread of its own: packing a large page takes milliseconds.
  gzip(body, { level: 1 }, (error, packed) => {
    if (error !== null) return void response.destroy(error);
    const length = packed.length;
    response.writeHead(status, { ...headers, 'content-encoding': 'gzip', 'content-length': length }).end(packed);
  });
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',');
  return accepted.some((one) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one));
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => reject(new Failure(reasonInWords(error, host, port)));
    server.once('error', refuse);
    server.listen({ host, port }, () => {
      server.off('error', refuse);
      // While no descriptor is left, some versions of Node tell each connection that cannot be taken.
      const warn = warnOnce();
      server.on('error', (error) => warn(`a connection could not be taken: ${reasonOf(error)}`));
      resolve();
    });
  });
}

function reasonInWords(error: NodeJS.ErrnoException, host: string, port: number): string {
  const what = `cannot serve on ${host} port ${port}: `;
  switch (error.code) {
    case 'EADDRINUSE':
      return `${what}the port is taken; choose another with --port (0 takes any free one)`;
    case 'EACCES':
      return `${what}not permitted; choose a port above 1023 with --port`;
    case 'EADDRNOTAVAIL':
      return `${what}this machine does not have that address; choose another with --host`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${what}the host name is not known; choose another with --host`;
    default:
      return `${what}${error.message}`;
  }
}

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
