/**
 * Turns of the requests on one connection. HTTP lets a client send the next requests before it has the answers (pipelining), and
 * Node.js begins all of them.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const MAX_IN_WORK = 2;
const MAX_WAITING = 16;
/** Bytes that the parser gets at once: some dozen requests. A read has 64 KiB, and requests take much more memory than bytes. */
const PIECE_BYTES = 1024;

interface Turns {
  inWork: number;
  /** Functions that begin the requests which wait. */
  readonly waiting: (() => void)[];
  /** True if there were too many: no further request begins, and the connection ends with the answers in work. */
  isOver: boolean;
}

export class RequestTurns {
  readonly #turns = new WeakMap<Socket, Turns>();
  readonly #onTooMany: (text: string, address: string | undefined) => void;

  constructor(server: Server, onTooMany: (text: string, address: string | undefined) => void) {
    this.#onTooMany = onTooMany;
    // After Node's own listener, which gives the socket its parser.
    server.on('setSecureContext' in server ? 'secureConnection' : 'connection', (socket: Socket) => {
      this.#divide(socket);
    });
  }

  /** Calls `begin` when it is the turn of this request. */
  take(socket: Socket, response: ServerResponse, begin: () => void): void {
    const turns = this.#of(socket);
    if (turns.isOver) return;
    const work = (): void => {
      turns.inWork++;
      response.once('close', () => this.#end(turns, socket));
      begin();
    };
    if (turns.inWork < MAX_IN_WORK) return work();
    if (turns.waiting.length < MAX_WAITING) return void turns.waiting.push(work);
    turns.isOver = true;
    turns.waiting.length = 0;
    socket.pause();
    this.#onTooMany(`more than ${MAX_IN_WORK + MAX_WAITING} requests of one connection waited.`, socket.remoteAddress);
  }

  #end(turns: Turns, socket: Socket): void {
    turns.inWork--;
    if (socket.destroyed) return;
    if (!turns.isOver) return turns.waiting.shift()?.();
    if (turns.inWork === 0) socket.destroySoon();
  }

  #of(socket: Socket): Turns {
    const known = this.#turns.get(socket);
    if (known !== undefined) return known;
    const turns: Turns = { inWork: 0, waiting: [], isOver: false };
    this.#turns.set(socket, turns);
    return turns;
  }

  /** Gives the bytes of the client to the parser in small pieces. The rest is dropped when too many requests wait. */
  #divide(socket: Socket): void {
    const turns = this.#of(socket);
    for (const parse of socket.listeners('data') as ((bytes: Buffer) => void)[]) {
      socket.removeListener('data', parse);
      // This listener also keeps Node's parser from reading past the socket.
      socket.on('data', (bytes: Buffer) => {
        for (let at = 0; at < bytes.length && !turns.isOver && !socket.destroyed; at += PIECE_BYTES) {
          // The parser waits for the client to read answers.
          if (socket.isPaused()) return socket.unshift(bytes.subarray(at));
          parse(bytes.subarray(at, at + PIECE_BYTES));
        }
      });
    }
  }
}
