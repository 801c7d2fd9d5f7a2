/**
 * The HTTP server and faulty clients: it closes their connections, and scrapes continue. test/servers/stalled-clients.test.ts has
 * those that take their time.
 */
import { expect, test } from 'vitest';
import { scrape, start, temporaryDirectory } from '../cli/command.js';
import { dial, dialMany } from '../support/dial.js';

async function serving(serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0'])): Promise<URL> {
  const [url] = await serve.says(/http:\S+metrics/);
  return new URL(url);
}

test('listens on 127.0.0.1 by default', async () => {
  expect((await serving()).hostname).toBe('127.0.0.1');
});

test('refuses headers that are too large', async () => {
  const url = await serving();
  expect(await (await dial(url)).ask('/metrics', `large: ${'x'.repeat(20_000)}\r\n`)).toMatch(/^HTTP\/1.1 431 /);
  expect(await scrape(url.href)).toContain('target_info');
});

test('answers further clients while two hold all connections', async () => {
  const url = await serving();
  await dialMany(128, url, '127.0.0.1');
  await dialMany(128, url, '127.0.0.2');
  for (const one of await dialMany(10, url, '127.0.0.3')) expect(await one.ask('/livez')).toMatch(/^HTTP\/1.1 200 /);
});

test('closes connections above the limit of one client, which the log reports, and keeps those of others', async () => {
  const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0']);
  const url = await serving(serve);
  const other = await dial(url, '127.0.0.2');
  await other.ask('/livez');
  const many = await dialMany(300, url);
  await expect.poll(() => many.filter(({ socket }) => !socket.destroyed).length).toBe(128);
  await serve.says(
    /a client at 127\.0\.0\.1 was refused \(connection_limit\): 128 connections of this client were open/,
  );
  expect(await other.ask('/livez')).toMatch(/^HTTP\/1.1 200 /);
});

test.each([
  'GET http://localhost/elsewhere HTTP/1.1',
  'GET /../../etc/passwd HTTP/1.1',
  'GET /%2e%2e/etc/passwd HTTP/1.1',
])('%s finds nothing but pages of ours', async (line) => {
  const dialed = await dial(await serving());
  dialed.socket.write(`${line}\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  await dialed.closed;
  expect(dialed.answer).toMatch(/^HTTP\/1.1 404 /);
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
