/** HTTP server: /metrics, probes, and answers to clients, on all of its addresses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { reasonOf } from '../../ground/errors.js';
import type { RefusalReason } from '../../instrumentation/serve-state.js';
import { oneLine } from '../../ground/one-line.js';
import type { ListenAddress } from '../../settings/listen-address.js';
import { note } from '../../process/output.js';
import type { Gate, Headers, RefusedRequest } from './gate.js';
import { bodyOf, changeRefusal } from './changes.js';
import { hostsWith, targetOf } from './host-check.js';
import { type Client, type Listener, makeListener, type Respond, taken } from './listener.js';
import { refuseOverlaps } from './overlaps.js';
import { Refusals } from './refusals.js';
import { type Body, Sending } from './sending.js';

/** Answers a request once, now or later. `room`: to be awaited before megabytes are made for the answer. */
export type Handler = (request: IncomingMessage, answer: Answer, room: () => Promise<void>) => void;
/**
 * Text gets the line end that it lacks; bytes are sent as they are, and packed if the client accepts that and they have no
 * `content-encoding`. `onSent`: called when they are no longer in use.
 */
export type Answer = (
  status: number,
  content: string | Body,
  contentType?: string,
  headers?: Headers,
  onSent?: () => void,
) => void;

/** Takes a change. Returns what it answers. */
export type ChangeHandler = (body: string) => {
  readonly status: number;
  readonly text: string;
  readonly type?: string;
};

export interface Routes {
  route(path: string, handler: Handler): void;
  /** Takes POST requests of clients that may change something. */
  change(path: string, handler: ChangeHandler): void;
}

export interface MetricsServer extends Routes {
  /** Addresses of the metrics, while it listens. That of a Unix socket is `unix:/path`. */
  readonly urls: readonly string[];
  /**
   * Listens on all addresses, or on none. Returns the address that is taken, and may be called again.
   * @throws Failure for any other reason not to listen
   */
  listenIfFree(): Promise<ListenAddress | undefined>;
  /** Waits for pending answers, at most two seconds. */
  close(): Promise<void>;
}

const METRICS = '/metrics';
const PROBES: readonly string[] = ['/livez', '/readyz'];
/** Text at `/` for clients that are no browser. */
export const INDEX = `nixl-otel: metrics of NVIDIA NIXL agents. They are at ${METRICS}`;
const TEXT = 'text/plain; charset=utf-8';
/** A refused client keeps no connection, because their number is limited. */
const CLOSE = { connection: 'close' };
/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 30_000;
/** Of an answer while serve starts. */
export const TRY_AGAIN = { 'retry-after': '1' };
const WRONG_HOST =
  'This server listens on a loopback address, and answers for localhost, for loopback addresses, and for the hosts that ' +
  '--allowed-host or serve.allowedHosts names.';
/** Longest part of a host in the log. */
const MOST_HOST = 100;
/** Time between two tries to listen, short because no process drains meanwhile. */
const TAKEN_PAUSE_MS = 50;

interface ServerOptions {
  readonly stalledMs?: number;
  /** Checks each client. */
  readonly gate?: Gate | undefined;
  /** Further hosts that requests to loopback addresses may name. */
  readonly allowedHosts?: readonly string[];
  /** Sets the handlers that there are from the first request on. */
  readonly publish?: ((routes: Routes) => void) | undefined;
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
  { stalledMs = STALLED_MS, gate, allowedHosts = [], publish }: ServerOptions = {},
): Promise<MetricsServer> {
  await refuseOverlaps(addresses);
  const handlers = new Map<string, Handler>([
    ['/', (_, answer) => answer(200, INDEX)],
    ['/livez', (_, answer) => answer(200, 'alive')],
    ['/readyz', (_, answer) => answer(503, 'starting')],
    [METRICS, starting],
  ]);
  const route = (path: string, handler: Handler): void => void handlers.set(path, handler);
  const changes = new Map<string, ChangeHandler>();
  const change = (path: string, handler: ChangeHandler): void => void changes.set(path, handler);
  publish?.({ route, change });
  const refusals = gate ?? new Refusals(); // without a gate, only the log has them
  const parts: Parts = { handlers, changes, gate, refusals, sending: new Sending(stalledMs) };
  const respondTo: Respond = (request, response, client) => receive(request, response, parts, client);
  const listeners: Listener[] = [];
  for (const address of addresses) {
    const ownName = 'host' in address && address.host !== undefined ? [address.host] : [];
    const limits = { stalledMs, isAllowedHost: hostsWith([...allowedHosts, ...ownName]) };
    listeners.push(await makeListener(address, respondTo, limits, gate, refusals));
  }
  const close = async (): Promise<void> => {
    await Promise.all(listeners.map((one) => one.close()));
  };
  return {
    get urls() {
      return listeners.map(({ url }) => (url.startsWith('unix:') ? url : `${url}${METRICS}`));
    },
    route,
    change,
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

/** Handler of a path while serve starts. */
export const starting: Handler = (_, answer) => answer(503, 'Starting.', TEXT, TRY_AGAIN);

/** Refusals in place of which probes get their status: kubelet shows nothing, and restarts what does not answer. */
const OPEN_TO_PROBES: readonly RefusalReason[] = ['no_credentials', 'no_certificate', 'rate_limit'];

/** What the requests of all listeners share. */
interface Parts {
  readonly handlers: ReadonlyMap<string, Handler>;
  readonly changes: ReadonlyMap<string, ChangeHandler>;
  readonly gate: Gate | undefined;
  readonly refusals: Pick<Gate, 'refused'>;
  readonly sending: Sending;
}

function receive(request: IncomingMessage, response: ServerResponse, parts: Parts, client: Client): void {
  const { gate, refusals } = parts;
  const answer = answerTo(request, response, parts);
  const refuse = ({ reason, status, text, headers }: RefusedRequest, logged = text): void => {
    refusals.refused(reason, logged, request.socket.remoteAddress);
    answer(status, text, TEXT, { ...headers, ...CLOSE });
  };
  const { host, hosts, url } = targetOf(request);
  request.url = url;
  if (hosts > 1) return refuse(wrongHost(400, 'A request has one header Host.'));
  if (host !== undefined && client.isAllowedHost?.(host) === false) {
    return refuse(
      wrongHost(421, WRONG_HOST),
      `it asked for the host "${oneLine(host).slice(0, MOST_HOST)}". ${WRONG_HOST}`,
    );
  }
  if (gate === undefined) return respond(request, parts, answer);
  const decide = (refusal: RefusedRequest | undefined): void => {
    if (refusal === undefined) {
      if (gate.asks(request)) client.onShown();
      return respond(request, parts, answer);
    }
    if (OPEN_TO_PROBES.includes(refusal.reason) && !gate.protectsProbes && PROBES.includes(pathOf(request))) {
      return respond(request, parts, (code, content) => answer(code, statusIn(content), TEXT, CLOSE));
    }
    refuse(refusal);
  };
  const checked = gate.check(request);
  if (!(checked instanceof Promise)) return decide(checked);
  checked.then(decide).catch((error: unknown) => {
    note(`a password could not be compared: ${reasonOf(error)}`, 'error');
    answer(500, 'This request failed.', TEXT, CLOSE);
  });
}

function wrongHost(status: number, text: string): RefusedRequest {
  return { reason: 'wrong_host', status, text, headers: {} };
}

/** Returns the part of a probe's text that names no agent, ring or path. */
function statusIn(content: string | Body): string {
  return typeof content === 'string' ? content.split(/[,\n]/, 1)[0]! : '';
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0]!;
}

function answerTo(request: IncomingMessage, response: ServerResponse, { gate, sending }: Parts): Answer {
  return (status, content, contentType = TEXT, own = {}, onSent = () => {}) => {
    const body = typeof content === 'string' ? Buffer.from(content.endsWith('\n') ? content : `${content}\n`) : content;
    // Headers of the gate count before those of an answer.
    sending.send(request, response, {
      status,
      headers: { 'content-type': contentType, ...own, ...gate?.headers },
      body,
      onSent,
    });
  };
}

function respond(request: IncomingMessage, parts: Parts, answer: Answer): void {
  const { handlers, changes, sending } = parts;
  const change = changes.get(pathOf(request));
  if (change !== undefined) return respondToChange(request, parts, answer, change);
  const handler = handlers.get(pathOf(request));
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    answer(405, 'Allowed methods: GET and HEAD.', undefined, { allow: 'GET, HEAD' });
  } else if (handler === undefined) {
    answer(404, `Not found. The metrics are at ${METRICS}`);
  } else {
    try {
      handler(request, answer, sending.room);
    } catch (error) {
      // A failing handler must not end the process.
      note(`${request.url} failed: ${reasonOf(error)}`, 'error');
      answer(500, 'This request failed.');
    }
  }
}

function respondToChange(request: IncomingMessage, { gate }: Parts, answer: Answer, change: ChangeHandler): void {
  if (request.method !== 'POST') return answer(405, 'Allowed method: POST.', undefined, { allow: 'POST' });
  const refusal = changeRefusal(request, gate?.asks(request) === true);
  if (refusal !== undefined) return answer(refusal.status, refusal.text, TEXT, CLOSE);
  bodyOf(request)
    .then((body) => {
      if (body === undefined) return answer(413, 'The body is too long.', TEXT, CLOSE);
      const { status, text, type } = change(body);
      answer(status, text, type);
    })
    .catch((error: unknown) => {
      note(`${request.url} failed: ${reasonOf(error)}`, 'error');
      answer(500, 'This request failed.', TEXT, CLOSE);
    });
}
