/** Networks of clients: each has one limit of waiting passwords. */
import type { IncomingMessage } from 'node:http';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type * as GateModule from '../../../src/serve/access/gate.js';
import { networkOf } from '../../../src/serve/http/client-network.js';
import { dist } from '../../support/child.js';
import { temporaryDirectory } from '../../cli/command.js';
import { hashOf } from '../access/guarded-serve.js';

it.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:0:1:aaaa:bbbb:cccc:dddd', '2001:db8:0:1'],
  ['2001:db8:0:1::1', '2001:db8:0:1'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['1:2::3:4:5:6:7', '1:2:0:3'],
  ['1:2::3:4:5:10.1.2.3', '1:2:0:3'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['', ''], // a Unix socket
])('that of %j is %j', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

/** A test has no addresses of several networks, so requests come without connections. */
function requestFrom(remoteAddress: string, password: string): IncomingMessage {
  const authorization = `Basic ${Buffer.from(`scraper:${password}`).toString('base64')}`;
  return { socket: { remoteAddress }, headers: { authorization } } as unknown as IncomingMessage;
}

it('a client with many addresses has the limit of one', async () => {
  const file = path.join(temporaryDirectory(), 'web.yml');
  writeFileSync(file, JSON.stringify({ basic_auth_users: { scraper: hashOf('right') } }));
  // From dist: the thread that checks passwords is a file there.
  const { WebGate } = (await import(dist('serve/access/gate.js'))) as typeof GateModule;
  const gate = new WebGate(file, true);
  onTestFinished(() => gate.close());
  let tries = 0;
  const from = (address: string) => gate.check(requestFrom(address, `wrong ${tries++}`));
  // One comparison is under way, and 32 wait: the last of the client loses its place.
  for (let i = 0; i < 33; i++) void from(`2001:db8::${i.toString(16)}:1`);
  const last = from('2001:db8:0:0:ffff::');
  const other = from('2001:db8:0:1::5');
  expect(await last).toMatchObject({ reason: 'busy' });
  expect(await other).toMatchObject({ reason: 'wrong_credentials' });
});
