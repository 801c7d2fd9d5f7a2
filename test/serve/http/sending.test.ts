/** Answers that clients do not read: their time and their memory are limited, and equal answers share what is made of them. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Body, Sending } from '../../../src/serve/http/sending.js';

const MEBIBYTE = 2 ** 20;
/** More than the buffers of both sockets hold. */
const LARGE = 64 * MEBIBYTE;

class SendingServer {
  readonly #server: Server;
  readonly #bodyOf: (path: string) => Body;
  readonly sending: Sending;
  readonly onSent = vi.fn();

  constructor(stalledMs: number, bodyOf: (path: string) => Body) {
    this.sending = new Sending(stalledMs);
    this.#bodyOf = bodyOf;
    this.#server = createServer((request, response) => this.#answer(request, response));
    onTestFinished(() => {
      this.#server.close().closeAllConnections();
    });
  }

  async started(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { onSent } = this;
    this.sending.send(request, response, { status: 200, headers: {}, body: this.#bodyOf(request.url!), onSent });
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  connections(): Promise<number> {
    return new Promise((resolve) => this.#server.getConnections((_, count) => resolve(count)));
  }

  /** Asks, and reads nothing but the beginning of the answer. */
  async stall(path = '/'): Promise<Socket> {
    const socket = connect(this.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {}); // the server closes the connection
    socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    await new Promise((resolve) => socket.once('readable', resolve));
    return socket;
  }

  get(path = '/', headers = {}): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.port}${path}`, { headers: { 'accept-encoding': 'identity', ...headers } });
  }
}

it('disconnects a client that reads nothing for the time of a stall, not for twice that time', async () => {
  const stalledMs = 2000;
  const body = new Uint8Array(LARGE);
  const server = await new SendingServer(stalledMs, () => body).started();
  await server.stall();
  let isTwice = false;
  // Both timers are of this process: a slow machine delays both.
  setTimeout(() => (isTwice = true), 2 * stalledMs);
  await expect.poll(() => server.connections()).toBe(0);
  expect([isTwice, server.onSent.mock.calls.length]).toEqual([false, 1]);
});

it('a client that pauses again and again, for less than that time, gets all of its answer', async () => {
  // Time passes only in the pauses, however slow the machine is.
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const stalledMs = 2000;
  const body = new Uint8Array(LARGE);
  const server = await new SendingServer(stalledMs, () => body).started();
  const socket = await server.stall();
  const ended = new Promise((resolve) => socket.once('close', resolve));
  const pauses = 3;
  let [bytes, paused] = [0, 0];
  socket.on('data', (part: Buffer) => {
    bytes += part.length;
    // Between two pauses it reads more than both sockets hold, so that the server goes on meanwhile.
    if (paused < pauses && bytes > ((paused + 1) * LARGE) / (pauses + 1)) {
      paused++;
      socket.pause();
      vi.advanceTimersByTime(0.75 * stalledMs);
      socket.resume();
    }
    if (bytes > LARGE) socket.end();
  });
  await ended;
  expect([paused, bytes > LARGE]).toEqual([pauses, true]);
  await expect.poll(() => server.onSent.mock.calls.length).toBe(1);
});

it('makes room for another answer by the clients that have stalled, and lets those go on that read', async () => {
  const bodies = new Map<string, Uint8Array>();
  const bodyOf = (path: string) => bodies.get(path) ?? bodies.set(path, new Uint8Array(8 * MEBIBYTE)).get(path)!;
  const server = await new SendingServer(0, bodyOf).started();
  for (let i = 0; i < 20; i++) {
    await server.sending.room();
    await server.stall(`/${i}`);
  }
  // Four answers of this size are within the limit, and one more was made after the last check.
  expect(await server.connections()).toBeLessThanOrEqual(5);
  await server.sending.room();
  expect((await (await server.get('/read')).arrayBuffer()).byteLength).toBe(8 * MEBIBYTE);
});

it('has room at once as long as many clients share one answer', async () => {
  const body = new Uint8Array(16 * MEBIBYTE);
  const server = await new SendingServer(0, () => body).started();
  for (let i = 0; i < 20; i++) await server.stall();
  await server.sending.room();
  expect(await server.connections()).toBe(20);
});

it('packs a body once for all that ask for it', async () => {
  const body = Buffer.alloc(MEBIBYTE, 'text');
  const text = body.toString();
  const server = await new SendingServer(0, () => body).started();
  const get = () => server.get('/', { 'accept-encoding': 'gzip' });
  for (const answer of await Promise.all(Array.from({ length: 10 }, get))) {
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect((await answer.text()) === text).toBe(true);
  }
  expect(server.onSent).toHaveBeenCalledTimes(10);
  body.fill('other'); // of which nothing is packed
  expect((await (await get()).text()) === text).toBe(true);
});

it.each(['identity', 'gzip'])('sends the pieces of one memory as one answer, %s', async (encoding) => {
  const memory = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251));
  const pieces = [memory.subarray(5, 10), memory.subarray(70_000, 270_000), memory.subarray(1, 2)];
  const body = { memory, pieces };
  const server = await new SendingServer(0, () => body).started();
  const answer = await server.get('/', { 'accept-encoding': encoding });
  expect(Buffer.concat(pieces).equals(Buffer.from(await answer.arrayBuffer()))).toBe(true);
  if (encoding === 'identity') expect(answer.headers.get('content-length')).toBe('200006');
  const raw = await new Promise<Buffer>((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect(server.port, '127.0.0.1');
    socket.on('data', (part: Buffer) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)));
    socket.write(`GET / HTTP/1.1\r\nhost: localhost\r\naccept-encoding: ${encoding}\r\nconnection: close\r\n\r\n`);
  });
  const content = raw.subarray(raw.indexOf('\r\n\r\n') + 4);
  expect(Buffer.concat(pieces).equals(encoding === 'gzip' ? gunzipSync(content) : content)).toBe(true);
});
