/** HTTP server: /metrics, probes, and answers to clients, on all of its addresses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzip } from 'node:zlib';
import { reasonOf } from '../../errors.js';
import type { ListenAddress } from '../../settings/listen-address.js';
import { note } from '../process/output.js';
import type { Gate, Headers, Refusal } from './gate.js';
import { type Listener, makeListener, type Respond, taken } from './listener.js';
import { refuseOverlaps } from './overlaps.js';
import { Refusals } from './refusals.js';

/** Answers a request once, now or later. */
export type Handler = (request: IncomingMessage, answer: Answer) => void;
/**
 * Text gets the line end that it lacks; bytes are sent as they are, and packed if the client accepts that and they have no
 * `content-encoding`. `onSent`: called when they are no longer in use.
 */
export type Answer = (
  status: number,
  content: string | Uint8Array,
  contentType?: string,
  headers?: Headers,
  onSent?: () => void,
) => void;

export interface MetricsServer {
  /** Addresses of the metrics, while it listens. That of a Unix socket is `unix:/path`. */
  readonly urls: readonly string[];
  /**
   * Listens on all addresses, or on none. Returns the address that is taken, and may be called again.
   * @throws Failure for any other reason not to listen
   */
  listenIfFree(): Promise<ListenAddress | undefined>;
  /** Sets the handler of a path. */
  route(path: string, handler: Handler): void;
  /** Waits for pending answers, at most two seconds. */
  close(): Promise<void>;
}

const METRICS = '/metrics';
const PROBES: readonly string[] = ['/livez', '/readyz'];
/** Text at `/` for clients that are no browser. */
export const INDEX = `nixl-otel: metrics of NVIDIA NIXL agents. They are at ${METRICS}`;
const TEXT = 'text/plain; charset=utf-8';
/** A client that did not show all that a web configuration asks for keeps no connection, because their number is limited. */
const CLOSE = { connection: 'close' };
/** Smaller answers are sent uncompressed. */
const GZIP_FROM_BYTES = 1024;
/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 30_000;
/** Time between two tries to listen, short because no process drains meanwhile. */
const TAKEN_PAUSE_MS = 50;

interface ServerOptions {
  readonly stalledMs?: number;
  /** Checks each client. */
  readonly gate?: Gate | undefined;
}

/** Starts the server. @throws Failure if it cannot listen on all addresses. */
export async function listenOn(addresses: readonly ListenAddress[], options?: ServerOptions): Promise<MetricsServer> {
  const server = await makeServer(addresses, options);
  const takenAddress = await server.listenIfFree();
  if (takenAddress === undefined) return server;
  throw taken(takenAddress);
}

/** Waits until all addresses are free. @throws Failure for any other reason not to listen. */
export async function listenOnceFree(server: MetricsServer): Promise<void> {
  while ((await server.listenIfFree()) !== undefined) await pause(TAKEN_PAUSE_MS);
}

/** Makes a server that does not listen yet. @throws Failure if two addresses overlap */
export async function makeServer(
  addresses: readonly ListenAddress[],
  { stalledMs = STALLED_MS, gate }: ServerOptions = {},
): Promise<MetricsServer> {
  await refuseOverlaps(addresses);
  const handlers = new Map<string, Handler>([
    ['/', (_, answer) => answer(200, INDEX)],
    ['/livez', (_, answer) => answer(200, 'alive')],
    ['/readyz', (_, answer) => answer(503, 'starting')],
    [METRICS, (_, answer) => answer(503, 'Starting.')],
  ]);
  const respondTo: Respond = (request, response, onShown) => receive(request, response, handlers, gate, onShown);
  const refusals = gate ?? new Refusals(); // without a gate, only the log has them
  const listeners: Listener[] = [];
  for (const address of addresses) listeners.push(await makeListener(address, respondTo, stalledMs, gate, refusals));
  const close = async (): Promise<void> => {
    await Promise.all(listeners.map((one) => one.close()));
  };
  return {
    get urls() {
      return listeners.map(({ url }) => (url.startsWith('unix:') ? url : `${url}${METRICS}`));
    },
    route: (path, handler) => handlers.set(path, handler),
    async listenIfFree() {
      try {
        for (const [i, one] of listeners.entries()) {
          if (await one.listenIfFree()) continue;
          await close();
          return addresses[i];
        }
        return undefined;
      } catch (error) {
        await close();
        throw error;
      }
    },
    close,
  };
}

function receive(
  request: IncomingMessage,
  response: ServerResponse,
  handlers: ReadonlyMap<string, Handler>,
  gate: Gate | undefined,
  onShown: () => void,
): void {
  if (gate === undefined) return respond(request, handlers, answerTo(request, response, {}));
  const answer = answerTo(request, response, gate.headers);
  const decide = (refusal: Refusal | undefined): void => {
    if (refusal === undefined) {
      if (gate.asks(request)) onShown();
      return respond(request, handlers, answer);
    }
    const { reason, status, text, headers } = refusal;
    const isWithout = reason === 'no_credentials' || reason === 'no_certificate';
    if (isWithout && !gate.protectsProbes && PROBES.includes(pathOf(request))) {
      return respond(request, handlers, (code, content) => answer(code, statusIn(content), TEXT, CLOSE));
    }
    gate.refused(reason, text, request.socket.remoteAddress);
    answer(status, text, TEXT, { ...headers, ...CLOSE });
  };
  const checked = gate.check(request);
  if (!(checked instanceof Promise)) return decide(checked);
  checked.then(decide).catch((error: unknown) => {
    note(`a password could not be compared: ${reasonOf(error)}`, 'error');
    answer(500, 'This request failed.', TEXT, CLOSE);
  });
}

/** Returns the part of a probe's text that names no agent, ring or path. */
function statusIn(content: string | Uint8Array): string {
  return String(content).split(/[,\n]/, 1)[0]!;
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]!;
}

/** `always`: headers of each answer in lower case, which count before its own. */
function answerTo(request: IncomingMessage, response: ServerResponse, always: Headers): Answer {
  return (status, content, contentType = TEXT, headers = {}, onSent = () => {}) => {
    const body = typeof content !== 'string' || content.endsWith('\n') ? content : `${content}\n`;
    send(request, response, status, { 'content-type': contentType, ...headers, ...always }, body, onSent);
  };
}

function respond(request: IncomingMessage, handlers: ReadonlyMap<string, Handler>, answer: Answer): void {
  const handler = handlers.get(pathOf(request));
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    answer(405, 'Allowed methods: GET and HEAD.', undefined, { allow: 'GET, HEAD' });
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
  if (body.length < GZIP_FROM_BYTES || 'content-encoding' in own || !acceptsGzip(request)) {
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

export function acceptsGzip({ headers }: IncomingMessage): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',');
  return accepted.some((one) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one));
}
