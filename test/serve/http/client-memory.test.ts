/** The client of `top --url` asks each second, for days: it keeps nothing of a request. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, RunningCommand } from '../../cli/command.js';

const ASK = `
import { createServer } from 'node:http';
import { HttpClient } from './client.js';

const REQUESTS = 8_000;
const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1', async () => {
  const url = new URL('http://127.0.0.1:' + server.address().port);
  const client = new HttpClient({ url });
  const heapAfter = async (requests) => {
    for (let i = 0; i < requests; i++) await client.get(url);
    gc();
    await new Promise(setImmediate);
    gc();
    return process.memoryUsage().heapUsed;
  };
  const before = await heapAfter(4_000);
  console.log('bytes per request: ' + ((await heapAfter(REQUESTS)) - before) / REQUESTS);
  client.close();
  server.close();
});`;

it('keeps no memory of a request', async () => {
  const flags = [
    '--expose-gc',
    '--input-type=module',
    '--eval',
    ASK.replace('./client.js', path.join(ROOT, 'dist/view/client/client.js')),
  ];
  const asking = new RunningCommand(process.execPath, flags);
  const [, bytes] = await asking.says(/bytes per request: (\S+)/);
  expect(Number(bytes)).toBeLessThan(30);
});
