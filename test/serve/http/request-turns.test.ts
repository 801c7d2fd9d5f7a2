/** Requests that a client sends before it has the answers to earlier ones. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gate } from '../../../src/serve/http/gate.js';
import { listenOn } from '../../../src/serve/http/metrics-server.js';
import { dial } from '../../support/dial.js';

const tlsFile = (name: string) => readFileSync(new URL(`../../support/tls/${name}.pem`, import.meta.url));

/** Lets everybody pass. */
class OpenGate implements Gate {
  readonly tls: Gate['tls'];
  readonly headers = {};
  readonly protectsProbes = false;
  readonly refusals: string[] = [];
  constructor(hasTls: boolean) {
    this.tls = hasTls ? { cert: tlsFile('certificate'), key: tlsFile('key') } : undefined;
  }
  refresh(): void {}
  onTlsChange(): void {}
  close(): void {}
  asks = () => false;
  check = () => undefined;
  refused: Gate['refused'] = (reason, text) => void this.refusals.push(`${reason}: ${text}`);
}

/** A server whose answers at /N wait until the test gives them. */
async function serverOf(hasTls: boolean) {
  const gate = new OpenGate(hasTls);
  const server = await listenOn([{ host: '127.0.0.1', port: 0 }], { gate });
  onTestFinished(() => server.close());
  const begun: number[] = [];
  const waiting: (() => void)[] = [];
  for (let i = 0; i < 100; i++) {
    server.route(`/${i}`, (_, answer) => {
      begun.push(i);
      waiting.push(() => answer(200, `answer ${i};`));
    });
  }
  const client = await dial(new URL(server.urls[0]!), '127.0.0.1', hasTls ? { rejectUnauthorized: false } : undefined);
  const send = (from: number, to: number) => {
    const all = Array.from({ length: to - from }, (_, i) => `GET /${from + i} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
    client.socket.write(all.join(''));
  };
  /** Gives the answer to the request that has waited the longest. */
  const give = () => waiting.shift()!();
  const given = () => [...client.answer.matchAll(/answer (\d+);/g)].map(([, i]) => Number(i));
  return { gate, server, begun, client, send, give, given };
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

describe.each([
  ['plain HTTP', false],
  ['TLS', true],
])('over %s', (_, hasTls) => {
  it('at most two requests of a connection are in work, and 16 wait for their turn', async () => {
    const { gate, begun, client, send, give, given } = await serverOf(hasTls);
    send(0, 18);
    for (let next = 2; next <= 18; next++) {
      await expect.poll(() => begun).toEqual(numbers(next));
      give();
    }
    give();
    await expect.poll(given).toEqual(numbers(18));
    expect([gate.refusals, client.socket.destroyed]).toEqual([[], false]);
    send(18, 19); // the connection stays
    await expect.poll(() => begun).toEqual(numbers(19));
    give();
    await expect.poll(given).toEqual(numbers(19));
  });

  it.each([19, 60])('a connection with %i requests ends with the two answers in work', async (count) => {
    const { gate, begun, client, send, give, given } = await serverOf(hasTls);
    send(0, count);
    await expect
      .poll(() => gate.refusals)
      .toEqual(['connection_limit: more than 18 requests of one connection waited.']);
    give();
    await expect.poll(given).toEqual([0]);
    expect(client.socket.destroyed).toBe(false);
    give();
    await client.closed;
    expect([given(), begun]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  it('another connection is answered meanwhile', async () => {
    const { server, gate, send } = await serverOf(hasTls);
    send(0, 99);
    await expect.poll(() => gate.refusals).toHaveLength(1);
    const tls = hasTls ? { rejectUnauthorized: false } : undefined;
    expect(await (await dial(new URL(server.urls[0]!), '127.0.0.1', tls)).ask('/livez')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

it('requests that come in pieces of any size are answered in their order', async () => {
  const { client, begun, give, given } = await serverOf(false);
  const text = numbers(10)
    .map((i) => `GET /${i} HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(400)}\r\n\r\n`)
    .join('');
  for (const piece of [text.slice(0, 7), text.slice(7, 1500), text.slice(1500, 1501), text.slice(1501)]) {
    await new Promise((resolve) => client.socket.write(piece, resolve));
  }
  for (let next = 2; next <= 10; next++) {
    await expect.poll(() => begun).toEqual(numbers(next));
    give();
  }
  give();
  await expect.poll(given).toEqual(numbers(10));
});
