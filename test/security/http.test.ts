/** The HTTP server and faulty clients: it closes their connections, and scrapes continue. */
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { scrape, start, temporaryDirectory } from '../cli/command.js';

async function serving(): Promise<URL> {
  const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0']);
  const [url] = await serve.says(/http:\S+metrics/);
  return new URL(url);
}

/** Opens a connection from an address of this machine. Returns it with its answer so far and a promise of its close. */
async function dial(
  { hostname: host, port }: URL,
  localAddress = '127.0.0.1',
): Promise<{ socket: Socket; answer: () => string; closed: Promise<void> }> {
  const socket = connect({ host, port: Number(port), localAddress });
  onTestFinished(() => void socket.destroy());
  let answer = '';
  socket.on('data', (text: Buffer) => (answer += text.toString()));
  socket.on('error', () => {}); // the server closes the connection, as it should
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const connected = new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  await Promise.race([connected, closed]);
  return { socket, answer: () => answer, closed };
}

test('listens on 127.0.0.1 by default', async () => {
  expect((await serving()).hostname).toBe('127.0.0.1');
});

test('refuses headers that are too large', async () => {
  const url = await serving();
  const { socket, answer, closed } = await dial(url);
  socket.write(`GET /metrics HTTP/1.1\r\nhost: x\r\nlarge: ${'x'.repeat(20_000)}\r\n\r\n`);
  await closed;
  expect(answer()).toMatch(/^HTTP\/1.1 431 /);
  expect(await scrape(url.href)).toContain('target_info');
});

test('closes a connection whose request does not end, in its headers or its body', async () => {
  const url = await serving();
  const [headers, body] = [await dial(url), await dial(url)];
  headers.socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n');
  body.socket.write('POST /metrics HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n');
  expect(await scrape(url.href)).toContain('target_info');
  await Promise.all([headers.closed, body.closed]);
  expect(await scrape(url.href)).toContain('target_info');
});

test('closes connections above the limit, and serves the earlier ones', async () => {
  const url = await serving();
  const dialMany = (count: number, address: string) =>
    Promise.all(Array.from({ length: count }, () => dial(url, address)));
  const [first] = await dialMany(128, '127.0.0.1');
  await dialMany(128, '127.0.0.2');
  const over = await dialMany(10, '127.0.0.3');
  await Promise.all(over.map(({ closed }) => closed));
  first!.socket.write('GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await first!.closed;
  expect(first!.answer()).toMatch(/^HTTP\/1.1 200 /);
});

test('closes connections above the limit of one client, and serves others', async () => {
  const url = await serving();
  const dialAndAsk = async () => {
    const { socket, answer, closed } = await dial(url);
    socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
    await Promise.race([closed, new Promise((resolve) => socket.once('data', resolve))]);
    return answer().startsWith('HTTP/1.1 200 ');
  };
  const areAnswered = await Promise.all(Array.from({ length: 300 }, dialAndAsk));
  expect(areAnswered.filter(Boolean)).toHaveLength(128);
  const { socket, answer, closed } = await dial(url, '127.0.0.2');
  socket.write('GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await closed;
  expect(answer()).toMatch(/^HTTP\/1.1 200 /);
});

test.each([
  'GET http://elsewhere/metrics HTTP/1.1',
  'GET /../../etc/passwd HTTP/1.1',
  'GET /%2e%2e/etc/passwd HTTP/1.1',
])('%s finds nothing but pages of ours', async (line) => {
  const { socket, answer, closed } = await dial(await serving());
  socket.write(`${line}\r\nhost: x\r\nconnection: close\r\n\r\n`);
  await closed;
  expect(answer()).toMatch(/^HTTP\/1.1 404 /);
});

test('repeats no text of a client in a response', async () => {
  const url = await serving();
  const answer = await fetch(new URL('/<script>alert(1)</script>?<b>', url), { headers: { 'x-a': '<i>' } });
  const text = await answer.text();
  expect(answer.status).toBe(404);
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(text).not.toMatch(/<|script/);
});
