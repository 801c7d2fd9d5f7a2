/** Connections of clients that may keep to no rule of HTTP. */
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { connect as connectSecure, type ConnectionOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

export class Dialed {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  #answer = '';

  constructor(socket: Socket) {
    this.socket = socket;
    onTestFinished(() => void socket.destroy());
    socket.on('data', (part: Buffer) => (this.#answer += part.toString('latin1')));
    socket.on('error', () => {}); // the server closes the connection, as it should
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  /** Everything that the server has sent since the last request of ask(). */
  get answer(): string {
    return this.#answer;
  }

  /** Asks and resolves to the whole answer, or to the part that came before the server closed the connection. */
  async ask(where: string, headers = '', host = 'localhost'): Promise<string> {
    this.#answer = '';
    this.socket.write(`GET ${where} HTTP/1.1\r\nhost: ${host}\r\n${headers}\r\n`);
    const whole = new Promise<void>((resolve) => this.socket.on('data', () => this.#isWhole && resolve()));
    await Promise.race([whole, this.closed]);
    return this.#answer;
  }

  get #isWhole(): boolean {
    const [, headers, length, body] = /^(.*?content-length: (\d+).*?)\r\n\r\n(.*)$/is.exec(this.#answer) ?? [];
    return headers !== undefined && body!.length >= Number(length);
  }
}

/** Opens a connection, from an address of this machine, to a URL or a Unix socket. Resolves when it is open or refused. */
export async function dial(to: URL | string, localAddress = '127.0.0.1', tls?: ConnectionOptions): Promise<Dialed> {
  const options: NetConnectOpts =
    typeof to === 'string' ? { path: to } : { host: to.hostname, port: Number(to.port), localAddress };
  const socket = tls === undefined ? connect(options) : connectSecure({ ...options, ...tls } as ConnectionOptions);
  const dialed = new Dialed(socket);
  const opened = new Promise<void>((resolve) =>
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => resolve()),
  );
  await Promise.race([opened, dialed.closed]);
  return dialed;
}

export function dialMany(count: number, ...[to, localAddress, tls]: Parameters<typeof dial>): Promise<Dialed[]> {
  return Promise.all(Array.from({ length: count }, () => dial(to, localAddress, tls)));
}
