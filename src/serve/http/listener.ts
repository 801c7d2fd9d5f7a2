/** One address of the HTTP server, with limits against clients that stall or flood. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { reasonOf } from '../../ground/errors.js';
import { addressText, type ListenAddress } from '../../settings/listen-address.js';
import { Failure } from '../../process/failure.js';
import { warnOnce } from '../../process/output.js';
import { ConnectionLimits } from './connection-limits.js';
import type { Gate } from './gate.js';
import { isLoopback } from './host-check.js';
import { RequestTurns } from './request-turns.js';
import { type SocketBelow, socketsBelow } from './socket-below.js';

export interface Client {
  /** Called when the client has shown what a web configuration asks for. */
  readonly onShown: () => void;
  /** Tells whether a request may name this host. Undefined if it may name any. */
  readonly isAllowedHost: ((host: string) => boolean) | undefined;
}

export type Respond = (request: IncomingMessage, response: ServerResponse, client: Client) => void;

export interface Listener {
  /** `http://127.0.0.1:9464`, or `unix:/path`; while it listens. */
  readonly url: string;
  /**
   * Returns false if the address is taken, and may be called again.
   * @throws Failure for any other reason not to listen
   */
  listenIfFree(): Promise<boolean>;
  /** Waits for pending answers, at most two seconds. */
  close(): Promise<void>;
}

const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 2_500,
  maxHeaderSize: 16_384,
  /** Longer than most scrape intervals, so that a scraper keeps its connection. */
  keepAliveTimeout: 75_000,
};
const MAX_HEADERS = 64;
const CLOSE_DEADLINE_MS = 2_000;

/** Resolves to false if the address is taken. */
type Bind = (server: Server) => Promise<boolean>;

interface ClientLimits {
  /** A client that sends and reads nothing for this long is disconnected. */
  readonly stalledMs: number;
  /** Tells whether a request may name this host, at a loopback address. */
  readonly isAllowedHost: (host: string) => boolean;
}

export async function makeListener(
  address: ListenAddress,
  respond: Respond,
  { stalledMs, isAllowedHost }: ClientLimits,
  gate: Gate | undefined,
  refusals: Pick<Gate, 'refused'>,
): Promise<Listener> {
  const unix = 'socketPath' in address ? new (await import('./unix-socket.js')).UnixSocket(address) : undefined;
  const secured = unix === undefined ? gate : undefined; // the kernel keeps a Unix socket to this machine
  const server = secured?.tls === undefined ? createServer(LIMITS) : await secureServer(secured);
  server.maxHeadersCount = MAX_HEADERS;
  const socketBelow = socketsBelow(server);
  const onRefused = (text: string, at: string | undefined): void => refusals.refused('connection_limit', text, at);
  const limits = new ConnectionLimits(server, unix !== undefined, onRefused);
  const turns = new RequestTurns(server, onRefused);
  let isAtLoopback = false;
  const receive: RequestListener = (request, response) =>
    turns.take(request.socket, response, () => {
      const onShown = limits.begin(socketBelow(request.socket), response);
      respond(request, response, { onShown, isAllowedHost: isAtLoopback ? isAllowedHost : undefined });
    });
  if ('setSecureContext' in server) followFiles(server, secured!, socketBelow, receive);
  else server.on('request', receive);
  server.setTimeout(stalledMs);
  const bind: Bind = 'socketPath' in address ? (one) => unix!.bind(one) : listening(address);
  // While no file descriptor is free, some versions of Node report each connection that they cannot accept.
  const warn = warnOnce();
  const onError = (error: Error): void => warn(`a connection could not be accepted: ${reasonOf(error)}`);
  return {
    async listenIfFree() {
      try {
        if (!(await bind(server))) return false;
      } catch (error) {
        if (error instanceof Failure) throw error;
        const { code = '', message } = error as NodeJS.ErrnoException;
        throw cannotServe(address, problemsOf(address)[code] ?? message);
      }
      server.on('error', onError);
      isAtLoopback = unix === undefined && isLoopback((server.address() as AddressInfo).address);
      return true;
    },
    get url() {
      return unix !== undefined ? addressText(address) : urlOf(server, 'setSecureContext' in server ? 'https' : 'http');
    },
    async close() {
      server.off('error', onError);
      unix?.release();
      await close(server, limits);
    },
  };
}

export function taken(address: ListenAddress): Failure {
  return cannotServe(address, problemsOf(address)[TAKEN]!);
}

async function secureServer(gate: Gate): Promise<SecureServer> {
  const { createServer: createSecureServer } = await import('node:https');
  const server = createSecureServer({ ...LIMITS, handshakeTimeout: LIMITS.headersTimeout, ...gate.tls });
  reportHandshakes(server, gate);
  return server;
}

/**
 * Begins each connection with the present files. After a change of the authorities, earlier connections get no answer: their
 * certificates were checked against the former ones. After another change, they end with their next answer.
 */
function followFiles(server: SecureServer, gate: Gate, socketBelow: SocketBelow, respond: RequestListener): void {
  /** Options with which the handshake of a connection began. */
  const begunWith = new WeakMap<Socket, TlsOptions | undefined>();
  // Before Node's own listener, which begins the handshake.
  server.prependListener('connection', (socket: Socket) => {
    gate.refresh();
    begunWith.set(socket, gate.tls);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    gate.refresh();
    const connection = socketBelow(request.socket);
    const begun = connection && begunWith.get(connection);
    // Without a word: a client that kept its connection asks again with a new one, and is answered there, or refused.
    if (begun?.ca !== gate.tls?.ca) return void request.socket.destroy();
    if (begun !== gate.tls) response.setHeader('connection', 'close');
    respond(request, response);
  });
  gate.onTlsChange((tls) => {
    server.setSecureContext(tls);
    server.closeIdleConnections();
  });
}

function reportHandshakes(server: SecureServer, gate: Gate): void {
  server.on('tlsClientError', (error: NodeJS.ErrnoException & { reason?: string }, socket) => {
    // A client that goes away, such as a probe of the port, was not refused.
    if (error.code === 'ECONNRESET') return;
    gate.refused('handshake', `TLS could not begin: ${error.reason ?? reasonOf(error)}`, socket.remoteAddress);
  });
}

function listening(address: Exclude<ListenAddress, { socketPath: string }>): Bind {
  return async (server) => {
    server.listen(address.host === undefined ? { port: address.port } : { host: address.host, port: address.port });
    try {
      await once(server, 'listening');
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === TAKEN) return false;
      throw error;
    }
  };
}

function urlOf(server: Server, scheme: string): string {
  const { address: host, port } = server.address() as AddressInfo;
  return `${scheme}://${addressText({ host, port })}`;
}

function cannotServe(address: ListenAddress, reason: string): Failure {
  if ('socketPath' in address) return new Failure(`cannot serve on ${addressText(address)}: ${reason}`);
  const { host = 'all addresses,', port } = address;
  return new Failure(`cannot serve on ${host} port ${port}: ${reason}`);
}

const TAKEN = 'EADDRINUSE';

const NO_FOLDER = 'its folder does not exist, or this user may not write there; choose another path with --listen';

/** Returns the reasons and remedies of errors by their codes. */
function problemsOf(address: ListenAddress): Readonly<Record<string, string>> {
  if ('socketPath' in address) {
    return {
      [TAKEN]: 'another process answers there; choose another path with --listen',
      EACCES: NO_FOLDER,
      ENOENT: NO_FOLDER,
      ENOTDIR: NO_FOLDER,
    };
  }
  const name = 'the host name is not known; choose another with --host or --listen';
  return {
    [TAKEN]: 'the port is taken; choose another with --port or --listen (0 takes any free one)',
    EACCES: 'not permitted; choose a port above 1023 with --port or --listen',
    EADDRNOTAVAIL: 'this machine does not have that address; choose another with --host or --listen',
    ENOTFOUND: name,
    EAI_AGAIN: name,
  };
}

function close(server: Server, limits: ConnectionLimits): Promise<void> {
  return new Promise((resolve) => {
    // Node's closeAllConnections() leaves those that have not ended their handshake.
    const deadline = setTimeout(() => limits.closeAll(), CLOSE_DEADLINE_MS);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    server.closeIdleConnections();
  });
}
