/** Places of connections at the limits: 256 in all, 128 of one client. */
import { mkdtempSync, rmSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import type { Gate } from '../../../src/serve/http/gate.js';
import { listenOn, type MetricsServer } from '../../../src/serve/http/metrics-server.js';
import type { ListenAddress } from '../../../src/settings/listen-address.js';
import { dial, type Dialed, dialMany } from '../../support/dial.js';

const SHOWN = 'authorization: right\r\n';

/** Asks for a header, and notes refusals. */
class HeaderGate implements Gate {
  readonly tls = undefined;
  readonly headers = {};
  readonly protectsProbes = false;
  readonly refusals: string[] = [];
  refresh(): void {}
  onTlsChange(): void {}
  close(): void {}
  asks = () => true;
  check: Gate['check'] = ({ headers }) =>
    headers.authorization === 'right' ? undefined : { reason: 'no_credentials', status: 401, text: 'No.', headers: {} };
  refused: Gate['refused'] = (reason, text, address) => void this.refusals.push(`${reason} ${address}: ${text}`);
}

async function serverOf(gate?: Gate, address: ListenAddress = { host: '127.0.0.1', port: 0 }) {
  const server = await listenOn([address], { gate, stalledMs: 0 });
  onTestFinished(() => server.close());
  return { server, url: server.urls[0]!.startsWith('unix:') ? server.urls[0]!.slice(5) : new URL(server.urls[0]!) };
}

/** Lets `/kept` wait for answers. Returns the number of requests that wait, and a function that answers them all. */
function keepWaiting(server: MetricsServer) {
  const answers: (() => void)[] = [];
  server.route('/kept', (_, answer) => answers.push(() => answer(200, 'kept')));
  return { waiting: () => answers.length, answerAll: () => answers.splice(0).forEach((one) => one()) };
}

const areOpen = (dialed: readonly Dialed[]): number => dialed.filter(({ socket }) => !socket.destroyed).length;
const isOk = (answer: string): boolean => answer.startsWith('HTTP/1.1 200 ');

it('a new connection takes the place of the one of its client that has been idle the longest', async () => {
  const { url } = await serverOf();
  const other = await dial(url, '127.0.0.2');
  const [first, second, ...others] = await dialMany(128, url);
  expect(isOk(await first!.ask('/'))).toBe(true);
  const added = await dial(url);
  await second!.closed;
  for (const one of [other, first!, ...others, added]) expect(isOk(await one.ask('/'))).toBe(true);
});

it('a connection that was closed at a limit counts, and no longer holds a place', async () => {
  const gate = new HeaderGate();
  const { url } = await serverOf(gate);
  const dialed = await dialMany(130, url);
  await Promise.all(dialed.slice(0, 2).map(({ closed }) => closed));
  const why = '128 connections of this client were open, and a new one took the place of an idle one.';
  expect(gate.refusals).toEqual(Array(2).fill(`connection_limit 127.0.0.1: ${why}`));
  const last = dialed.slice(2).map((one) => one.ask('/', `${SHOWN}connection: close\r\n`).then(() => one.closed));
  await Promise.all(last);
  const again = await dialMany(128, url);
  for (const one of again) expect(isOk(await one.ask('/livez', SHOWN))).toBe(true);
  expect(gate.refusals).toHaveLength(2);
});

it('a connection with credentials gives up its place only if all idle ones have shown them', async () => {
  const { url } = await serverOf(new HeaderGate());
  const other = await dial(url, '127.0.0.2');
  const shown = await dialMany(127, url);
  for (const one of shown) await one.ask('/', SHOWN);
  const without = await dial(url);
  const probe = await dial(url);
  await without.closed;
  expect(areOpen(shown)).toBe(127);
  expect(isOk(await probe.ask('/livez', SHOWN))).toBe(true);
  const next = await dial(url);
  await shown[0]!.closed;
  expect([areOpen(shown), areOpen([probe, next])]).toEqual([126, 2]);
  expect(isOk(await other.ask('/', SHOWN))).toBe(true);
});

it('at the limit of all, a connection of the client with the most gives up its place, and others stay', async () => {
  const { url } = await serverOf();
  const few = await dialMany(64, url, '127.0.0.2');
  const most = await dialMany(100, url, '127.0.0.3');
  const more = await dialMany(92, url, '127.0.0.4');
  const added = await dialMany(8, url, '127.0.0.5');
  await Promise.all(most.slice(0, 8).map(({ closed }) => closed));
  expect([few, most, more, added].map(areOpen)).toEqual([64, 92, 92, 8]);
  for (const one of added) expect(isOk(await one.ask('/livez'))).toBe(true);
});

it('a new connection is refused only if all of its client have a request in work', async () => {
  const gate = new HeaderGate();
  const { server, url } = await serverOf(gate);
  const { waiting, answerAll } = keepWaiting(server);
  const busy = await dialMany(128, url);
  const asked = busy.map((one) => one.ask('/kept', SHOWN));
  await expect.poll(waiting).toBe(128);
  await (
    await dial(url)
  ).closed;
  expect(gate.refusals).toEqual([
    'connection_limit 127.0.0.1: 128 connections of this client were open, and all have a request in work.',
  ]);
  expect(isOk(await (await dial(url, '127.0.0.2')).ask('/livez'))).toBe(true);
  answerAll();
  expect((await Promise.all(asked)).every(isOk)).toBe(true);
  expect(isOk(await (await dial(url)).ask('/livez'))).toBe(true);
});

it('a slow reader of a large page keeps its connection until it has all', async () => {
  const { server, url } = await serverOf();
  const length = 64 * 2 ** 20; // more than the buffers of both sockets hold
  server.route('/large', (_, answer) => answer(200, new Uint8Array(length)));
  const { socket } = await dial(url);
  let bytes = 0;
  socket.removeAllListeners('data').on('data', (part: Buffer) => (bytes += part.length));
  socket.write('GET /large HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  socket.pause();
  const flood = await dialMany(400, url);
  await expect.poll(() => areOpen(flood)).toBe(127);
  const read = new Promise((resolve) => socket.once('end', resolve));
  socket.resume();
  await read;
  expect(bytes).toBeGreaterThan(length);
});

it('all clients of a Unix socket share the limit of all', async () => {
  const folder = mkdtempSync('/tmp/nixl-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { url } = await serverOf(undefined, { socketPath: `${folder}/serve.sock`, mode: 0o600 });
  const [first, ...others] = await dialMany(256, url);
  const added = await dial(url);
  await first!.closed;
  for (const one of [...others, added]) expect(isOk(await one.ask('/livez'))).toBe(true);
});
