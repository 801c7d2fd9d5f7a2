/**
 * Answers on their way to clients, with limits for clients that do not read them. Answers of the same bytes share their memory,
 * also packed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { Headers } from './gate.js';

const gzipped = promisify(gzip);
const PACKING = { level: 1 };
const NOTHING = new Uint8Array();

/** Pieces of one memory. */
export interface Pieces {
  readonly memory: Uint8Array;
  readonly pieces: readonly Uint8Array[];
}

/** Answers with the same object share what is made of it. */
export type Body = Uint8Array | Pieces;

/** Smaller answers are sent uncompressed. */
const GZIP_FROM_BYTES = 1024;
/**
 * Bytes that the socket gets at once. Node reports when it has sent all that it was given, so this is what a client must read in
 * the time for one that stalls. TLS makes a copy of them.
 */
const PIECE_BYTES = 64 * 1024;
/** Limit of the answers that clients have not read, all together. */
const MAX_UNSENT_BYTES = 16 * 2 ** 20;
/** Answers of the largest size that are within the limit in any case. */
const MIN_UNSENT_ANSWERS = 4;
/** Time for which a client may read nothing while others wait for memory. It becomes shorter while they wait. */
const PATIENCE_MS = 500;
const PAUSE_MS = 10;
const MOST_LOOK_INTERVAL_MS = 1000;

export interface Content {
  readonly status: number;
  /** In lower case. */
  readonly headers: Headers;
  readonly body: Body;
  /** Called once, when the body is no longer in use. */
  readonly onSent: () => void;
}

/** A client with answers that are not sent. */
interface WaitingClient {
  readonly answers: Map<ServerResponse, Uint8Array>;
  /** Time at which it last read something. */
  readMs: number;
}

export class Sending {
  readonly #stalledMs: number;
  /** In the order of their last reads: the one that has stalled the longest comes first. */
  readonly #clients = new Map<Socket, WaitingClient>();
  readonly #uses = new Map<Uint8Array, number>();
  readonly #packed = new WeakMap<Body, Promise<Uint8Array>>();
  #packing: Promise<unknown> = Promise.resolve();
  #freeing: Promise<void> | undefined;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `stalledMs`: a client that reads nothing for this long is disconnected; 0 for no limit. */
  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs;
  }

  /**
   * Resolves when there is memory for one more answer, which is to be made only then. For that it disconnects clients, first the
   * one that has stalled the longest.
   */
  readonly room = async (): Promise<void> => {
    if (this.#isFull) await (this.#freeing ??= this.#free().finally(() => (this.#freeing = undefined)));
  };

  send(request: IncomingMessage, response: ServerResponse, content: Content): void {
    const { body, onSent } = content;
    const headers = { vary: 'accept-encoding', 'x-content-type-options': 'nosniff', ...content.headers };
    if (lengthOf(body) < GZIP_FROM_BYTES || 'content-encoding' in headers || !acceptsGzip(request)) {
      return this.#write(request, response, { ...content, headers });
    }
    this.#packedOf(body)
      .finally(onSent)
      .then((packed) => {
        const packedHeaders = { ...headers, 'content-encoding': 'gzip' };
        this.#write(request, response, { ...content, headers: packedHeaders, body: packed, onSent: () => {} });
      })
      .catch((error: Error) => response.destroy(error));
  }

  /** Packs one body at a time. */
  #packedOf(body: Body): Promise<Uint8Array> {
    const known = this.#packed.get(body);
    if (known !== undefined) return known;
    const memory = memoryOf(body);
    this.#hold(memory);
    const packed = this.#packing.then(() => pack(body)).finally(() => this.#release(memory));
    this.#packing = packed.catch(() => {});
    this.#packed.set(body, packed);
    return packed;
  }

  #write(request: IncomingMessage, response: ServerResponse, { status, headers, body, onSent }: Content): void {
    const { socket } = request;
    if (response.closed || socket.destroyed) return onSent();
    const client = this.#add(socket, response, memoryOf(body));
    let isSent = false;
    const end = (): void => {
      if (isSent) return;
      isSent = true;
      socket.off('close', end);
      this.#remove(socket, response);
      onSent();
    };
    response.once('close', end);
    socket.once('close', end); // a response behind others does not report it
    const length = lengthOf(body);
    response.writeHead(status, { ...headers, 'content-length': length });
    const pieces = piecesOf(request.method === 'HEAD' ? NOTHING : body);
    const writeNext = (): void => {
      const { done, value } = pieces.next();
      if (done) return void response.end();
      response.write(value, (error) => {
        if (isSent || error) return;
        this.#hasRead(socket, client);
        writeNext();
      });
    };
    if (length > PIECE_BYTES) writeNext();
    else response.end(Buffer.concat([...pieces]));
  }

  #add(socket: Socket, response: ServerResponse, body: Uint8Array): WaitingClient {
    const client = this.#clients.get(socket) ?? { answers: new Map(), readMs: performance.now() };
    this.#clients.set(socket, client);
    client.answers.set(response, body);
    this.#hold(body);
    if (this.#stalledMs > 0) {
      const intervalMs = Math.min(MOST_LOOK_INTERVAL_MS, this.#stalledMs / 4);
      this.#timer ??= setInterval(() => this.#closeStalled(), intervalMs).unref();
    }
    return client;
  }

  get #isFull(): boolean {
    if (this.#bytes <= MAX_UNSENT_BYTES) return false;
    const largest = Math.max(...[...this.#uses.keys()].map(({ length }) => length));
    return this.#bytes > MIN_UNSENT_ANSWERS * largest;
  }

  async #free(): Promise<void> {
    for (let waitedMs = 0; this.#isFull; waitedMs += PAUSE_MS) {
      const nowMs = performance.now();
      for (const [socket, { readMs }] of this.#clients) {
        if (!this.#isFull || nowMs - readMs < PATIENCE_MS - waitedMs) break;
        this.#close(socket);
      }
      if (this.#isFull) await pause(PAUSE_MS);
    }
  }

  #closeStalled(): void {
    const nowMs = performance.now();
    for (const [socket, client] of this.#clients) {
      // None of them can be sent before that of an earlier request.
      if ([...client.answers.keys()].every((response) => response.socket === null)) client.readMs = nowMs;
      else if (nowMs - client.readMs >= this.#stalledMs) this.#close(socket);
    }
  }

  #close(socket: Socket): void {
    for (const response of [...this.#clients.get(socket)!.answers.keys()]) this.#remove(socket, response);
    socket.destroy();
  }

  #hasRead(socket: Socket, client: WaitingClient): void {
    if (!this.#clients.delete(socket)) return; // it was disconnected meanwhile
    client.readMs = performance.now();
    this.#clients.set(socket, client);
  }

  #remove(socket: Socket, response: ServerResponse): void {
    const client = this.#clients.get(socket);
    const body = client?.answers.get(response);
    if (client === undefined || body === undefined) return;
    client.answers.delete(response);
    this.#release(body);
    if (client.answers.size > 0) return this.#hasRead(socket, client);
    this.#clients.delete(socket);
    if (this.#clients.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #hold(body: Uint8Array): void {
    const uses = this.#uses.get(body) ?? 0;
    this.#uses.set(body, uses + 1);
    if (uses === 0) this.#bytes += body.length;
  }

  #release(body: Uint8Array): void {
    const uses = this.#uses.get(body)! - 1;
    if (uses > 0) return void this.#uses.set(body, uses);
    this.#uses.delete(body);
    this.#bytes -= body.length;
  }
}

function memoryOf(body: Body): Uint8Array {
  return 'memory' in body ? body.memory : body;
}

function lengthOf(body: Body): number {
  return 'memory' in body ? body.pieces.reduce((sum, { length }) => sum + length, 0) : body.length;
}

/** Returns what the socket gets at once. */
function* piecesOf(body: Body): Generator<Uint8Array, undefined> {
  for (const piece of 'memory' in body ? body.pieces : [body]) {
    for (let at = 0; at < piece.length; at += PIECE_BYTES) yield piece.subarray(at, at + PIECE_BYTES);
  }
}

/** Runs on another thread: packing megabytes takes milliseconds. */
function pack(body: Body): Promise<Uint8Array> {
  if (!('memory' in body)) return gzipped(body, PACKING);
  return buffer(Readable.from(body.pieces).pipe(createGzip(PACKING)));
}

export function acceptsGzip({ headers }: IncomingMessage): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',');
  return accepted.some((one) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one));
}
