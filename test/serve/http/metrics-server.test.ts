import { connect, Server } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listenOn } from '../../../src/serve/http/metrics-server.js';

it('survives a handler that throws, and reports it', async () => {
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }]);
  onTestFinished(() => server.close());
  server.route('/broken', () => {
    throw new Error('no numbers');
  });
  const broken = await fetch(new URL('/broken', server.urls[0]));
  expect([broken.status, await broken.text()]).toEqual([500, 'This request failed.\n']);
  expect((await fetch(new URL('/livez', server.urls[0]))).status).toBe(200);
});

it('survives connections that cannot be accepted, which only some versions of Node report', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }]);
  onTestFinished(() => server.close());
  const inner = listen.mock.contexts[0] as Server;
  for (const time of ['first', 'second']) inner.emit('error', new Error(`accept EMFILE, the ${time} time`));
  expect((await fetch(new URL('/livez', server.urls[0]))).status).toBe(200);
});

it('closes a connection that does not read its response', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }], { stalledMs: 200 });
  onTestFinished(() => server.close());
  // More than the buffers of both sockets hold.
  const length = 64 * 2 ** 20;
  server.route('/large', (_, answer) => answer(200, 'x'.repeat(length)));
  const { hostname, port } = new URL(server.urls[0]!);
  const client = connect(Number(port), hostname);
  onTestFinished(() => void client.destroy());
  client.on('error', () => {}); // its further requests meet a closed connection
  client.write('GET /large HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const connections = () =>
    new Promise<number>((resolve) => (listen.mock.contexts[0] as Server).getConnections((_, count) => resolve(count)));
  await new Promise((resolve) => client.once('readable', resolve)); // the answer has begun; the client reads none of it
  await expect.poll(connections).toBe(0);
  let bytes = 0;
  client.on('data', (part: Buffer) => (bytes += part.length));
  await new Promise((resolve) => client.resume().once('close', resolve));
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThan(length);
});

it('waits for a pending answer when it closes, but not for ever', async () => {
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }], { stalledMs: 0 });
  const asked: string[] = [];
  server.route('/quick', (_, answer) => {
    asked.push('quick');
    setImmediate(() => answer(200, 'done'));
  });
  server.route('/never', () => void asked.push('never'));
  const never = fetch(new URL('/never', server.urls[0])).catch(() => 'cut off');
  await expect.poll(() => asked).toEqual(['never']);
  const quick = fetch(new URL('/quick', server.urls[0])).then((answer) => answer.text());
  await expect.poll(() => asked).toEqual(['never', 'quick']);
  await server.close();
  expect(await quick).toBe('done\n');
  expect(await never).toBe('cut off');
});

it.each<[string, RequestInit]>([
  ['sent', { headers: { 'accept-encoding': 'identity' } }],
  ['compressed', { headers: { 'accept-encoding': 'gzip' } }],
  ['left out for HEAD', { method: 'HEAD' }],
])('tells once that the bytes of an answer are no longer in use when they were %s', async (_, request) => {
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }]);
  onTestFinished(() => server.close());
  const onSent = vi.fn();
  server.route('/page', (_, answer) => answer(200, new Uint8Array(4096), undefined, {}, onSent));
  for (let requests = 1; requests < 4; requests++) {
    await (await fetch(new URL('/page', server.urls[0]), request)).arrayBuffer();
    await expect.poll(() => onSent.mock.calls.length).toBe(requests);
  }
});

it('holds the bytes of an answer until its client has read them or has gone', async () => {
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }], { stalledMs: 0 });
  onTestFinished(() => server.close());
  const [onSent, later] = [vi.fn(), vi.fn()];
  const bytes = new Uint8Array(64 * 2 ** 20); // more than the buffers of both sockets hold
  server.route('/large', (_, answer) => answer(200, bytes, undefined, {}, onSent));
  server.route('/late', (request, answer) => {
    request.socket.once('close', () => answer(200, new Uint8Array(9), undefined, {}, later));
  });
  const { hostname, port } = new URL(server.urls[0]!);
  const ask = (path: string) => {
    const client = connect(Number(port), hostname);
    client.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    return client;
  };
  const client = ask('/large');
  await new Promise((resolve) => client.once('readable', resolve));
  await fetch(new URL('/livez', server.urls[0]));
  expect(onSent).not.toHaveBeenCalled();
  client.destroy();
  await expect.poll(() => onSent.mock.calls.length).toBe(1);
  ask('/late').destroySoon();
  await expect.poll(() => later.mock.calls.length).toBe(1);
});

it('counts only the first 64 headers of a request', async () => {
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }]);
  onTestFinished(() => server.close());
  server.route('/headers', ({ headers }, answer) => answer(200, Object.keys(headers).join()));
  const headers = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-${i}`, 'y']));
  const names = (await (await fetch(new URL('/headers', server.urls[0]), { headers })).text()).split(',');
  expect(names).toHaveLength(64);
});
