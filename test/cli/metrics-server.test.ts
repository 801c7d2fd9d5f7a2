import { expect, it, onTestFinished } from 'vitest';
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
