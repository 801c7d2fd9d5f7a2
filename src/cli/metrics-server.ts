/** The HTTP side: one page, a few words for who comes by, and limits for who does not behave. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from './failure.js';

export type PageWriter = (request: IncomingMessage, response: ServerResponse) => void;

export interface MetricsServer {
  /** Of the page. */
  readonly url: string;
  /** Until then the page is answered with 503. */
  publish(writePage: PageWriter): void;
  /** Lets answers that are under way end, for at most two seconds. */
  close(): Promise<void>;
}

const PATH = '/metrics';
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
export async function listenOn(host: string, port: number): Promise<MetricsServer> {
  let writePage: PageWriter = (_, response) => writeText(response, 503, 'Starting.');
  const server = createServer({ ...LIMITS, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
    answer(request, response, writePage),
  );
  server.maxHeadersCount = MAX_HEADERS;
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(STALLED_MS);
  await listen(server, host, port);
  const { address, port: actualPort, family } = server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  return {
    url: `http://${name}:${actualPort}${PATH}`,
    publish: (page) => {
      writePage = page;
    },
    close: () => close(server),
  };
}

function answer(request: IncomingMessage, response: ServerResponse, writePage: PageWriter): void {
  const path = request.url?.split('?', 1)[0];
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    writeText(response, 405, 'Only GET and HEAD are answered here.');
  } else if (path === PATH) {
    writePage(request, response);
  } else if (path === '/') {
    writeText(response, 200, `nixl-otel: metrics of NVIDIA NIXL agents. They are at ${PATH}`);
  } else {
    writeText(response, 404, `There is nothing here. The metrics are at ${PATH}`);
  }
}

function writeText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Failure(reasonInWords(error, host, port))));
    server.listen({ host, port }, resolve);
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
