/**
 * Limits on the open connections of one address of the server. At a limit a new connection takes the place of an idle one, so
 * that clients that hold connections do not keep others out.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './client-network.js';

const MAX_CONNECTIONS = 256;
/** Limit of one client, with all of its addresses. */
const MAX_CONNECTIONS_PER_CLIENT = MAX_CONNECTIONS / 2;

interface Connection {
  readonly socket: Socket;
  /** Network of the client. All clients of a Unix socket are one. */
  readonly client: string;
  /** Requests without a sent answer. */
  requestsInWork: number;
  /** True if its client has shown what a web configuration asks for. */
  hasShown: boolean;
}

/** `text`: why the connection was closed. */
type OnRefused = (text: string, address: string | undefined) => void;

export class ConnectionLimits {
  /** In the order of their last answers, or of their begin if they have had none: the earliest comes first. */
  readonly #open = new Set<Connection>();
  readonly #openByClient = new Map<string, number>();
  readonly #connections = new WeakMap<Socket, Connection>();
  readonly #maxPerClient: number;
  readonly #onRefused: OnRefused;

  /** `isUnix`: its clients have no addresses, so that only the limit of all holds. */
  constructor(server: Server, isUnix: boolean, onRefused: OnRefused) {
    this.#maxPerClient = isUnix ? Infinity : MAX_CONNECTIONS_PER_CLIENT;
    this.#onRefused = onRefused;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  /**
   * Notes a request, and that it is in work until its answer has been sent. `socket`: that of the connection, below TLS. Returns
   * a function to call when the client has shown what a web configuration asks for.
   */
  begin(socket: Socket | undefined, response: ServerResponse): () => void {
    const connection = socket && this.#connections.get(socket);
    if (connection === undefined) return () => {}; // its client has gone
    connection.requestsInWork++;
    response.once('close', () => {
      connection.requestsInWork--;
      // To the end of the order, unless it has been closed.
      if (this.#open.delete(connection)) this.#open.add(connection);
    });
    return () => (connection.hasShown = true);
  }

  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy();
  }

  #add(socket: Socket): void {
    const client = networkOf(socket.remoteAddress ?? '');
    const connection: Connection = { socket, client, requestsInWork: 0, hasShown: false };
    this.#connections.set(socket, connection);
    this.#open.add(connection);
    const count = (this.#openByClient.get(client) ?? 0) + 1;
    this.#openByClient.set(client, count);
    socket.once('close', () => this.#remove(connection));
    if (count > this.#maxPerClient)
      this.#makePlace(connection, `${this.#maxPerClient} connections of this client`, client);
    else if (this.#open.size > MAX_CONNECTIONS) this.#makePlace(connection, `${MAX_CONNECTIONS} connections`);
  }

  /** Closes an idle connection, of the client if one is given. If there is none, closes the added one. */
  #makePlace(added: Connection, limit: string, client?: string): void {
    const closed = this.#mostDispensable(added, client);
    const why = closed === undefined ? 'all have a request in work' : 'a new one took the place of an idle one';
    const { socket } = closed ?? added;
    this.#onRefused(`${limit} were open, and ${why}.`, socket.remoteAddress);
    this.#remove(closed ?? added); // before the event of its close, which may come after further connections
    socket.destroy();
  }

  /** Connections without credentials come first, then those of the client with the most, then the order. */
  #mostDispensable(added: Connection, client: string | undefined): Connection | undefined {
    const rankOf = (one: Connection): number =>
      (one.hasShown ? 0 : MAX_CONNECTIONS + 1) + this.#openByClient.get(one.client)!;
    let [most, highest]: [Connection | undefined, number] = [undefined, 0];
    for (const one of this.#open) {
      if (one === added || one.requestsInWork > 0 || (client !== undefined && one.client !== client)) continue;
      const rank = rankOf(one);
      if (rank > highest) [most, highest] = [one, rank];
    }
    return most;
  }

  #remove(connection: Connection): void {
    if (!this.#open.delete(connection)) return;
    const left = this.#openByClient.get(connection.client)! - 1;
    if (left === 0) this.#openByClient.delete(connection.client);
    else this.#openByClient.set(connection.client, left);
  }
}
