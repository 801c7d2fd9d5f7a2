import { Server } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { listenOn } from '../../src/cli/serve/metrics-server.js';

it('outlives a page that throws, and says so', async () => {
  const server = await listenOn('127.0.0.1', 0);
  onTestFinished(() => server.close());
  server.route('/broken', () => {
    throw new Error('no numbers');
  });
  const broken = await fetch(new URL('/broken', server.url));
  expect([broken.status, await broken.text()]).toEqual([500, 'This page failed.\n']);
  expect((await fetch(new URL('/livez', server.url))).status).toBe(200);
});

it('outlives connections that cannot be taken, of which not every version of Node tells', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => listen.mockRestore());
  const server = await listenOn('127.0.0.1', 0);
  onTestFinished(() => server.close());
  const inner = listen.mock.contexts[0] as Server;
  for (const time of ['first', 'second']) inner.emit('error', new Error(`accept EMFILE, the ${time} time`));
  expect((await fetch(new URL('/livez', server.url))).status).toBe(200);
});
