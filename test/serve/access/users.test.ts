/** Users of a real serve. */
import { expect, it } from 'vitest';
import { until } from '../../cli/command.js';
import { GuardedServe, hashOf } from './guarded-serve.js';

const RIGHT = { auth: 'scraper:right password' };
const users = (more: Record<string, string> = {}) => ({
  basic_auth_users: { scraper: hashOf('right password'), ...more },
});

it('are needed for the page, its figures and the metrics, and wrong ones are refused in words and counted', async () => {
  const serve = await new GuardedServe(users(), RIGHT).started();
  expect(serve.url).toMatch(/^http:/);
  for (const where of ['/', '/metrics', '/api/v1/agents', '/api/v1/history', '/page/page/browser/main.js', '/none']) {
    const without = await serve.ask(where, {});
    expect([without.status, without.headers['www-authenticate']], where).toEqual([
      401,
      expect.stringMatching(/^Basic /),
    ]);
    expect(without.text).toBe('This server needs a user and a password.\n');
    expect((await serve.ask(where)).status, where).toBe(where === '/none' ? 404 : 200);
  }
  for (const auth of ['scraper:wrong', 'stranger:right password', ':', 'scraper:', 'scraper:right password ']) {
    const { status, text } = await serve.ask('/metrics', { auth });
    expect([status, text], auth).toEqual([401, 'The user or the password is wrong.\n']);
  }
  expect(await serve.page()).not.toContain('certificate_expiry'); // without TLS
  expect(await serve.refusals('no_credentials')).toBe(6);
  expect(await serve.refusals('wrong_credentials')).toBe(5);
  await serve.command.says(/refused \(wrong_credentials\)/);
  const { stderr, code } = await serve.command.stop('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/right password|stranger|\$2/);
  expect(stderr.match(/wrong_credentials/g)).toHaveLength(1);
});

it('are not needed for the status of probes, unless probes are protected', async () => {
  const open = await new GuardedServe(users(), RIGHT).started();
  for (const [where, status] of Object.entries({ '/livez': 'alive\n', '/readyz': 'ready\n' })) {
    expect(await open.ask(where, {})).toMatchObject({ status: 200, text: status });
  }
  expect((await open.ask('/readyz')).text).toBe('ready, 0 agents\n');
  expect((await open.ask('/readyz', { auth: 'scraper:wrong' })).status).toBe(401);
  expect(await open.refusals('no_credentials')).toBe(0);
  const closed = await new GuardedServe(users(), RIGHT, ['--protect-probes', 'on']).started();
  for (const where of ['/livez', '/readyz']) expect((await closed.ask(where, {})).status).toBe(401);
  expect((await closed.ask('/readyz')).text).toBe('ready, 0 agents\n');
});

it('are those of the file as it is now; a file without users opens nothing', async () => {
  const serve = await new GuardedServe(users({ other: hashOf('second') }), RIGHT).started();
  const status = async (auth: string) => (await serve.ask('/metrics', { auth })).status;
  expect(await status('other:second')).toBe(200);
  serve.write(users({ other: hashOf('third') }));
  expect([await status('other:second'), await status('other:third')]).toEqual([401, 200]);
  serve.write(users());
  expect(await status('other:third')).toBe(401);
  serve.write(users({ other: 'third' }));
  expect(await serve.isStale()).toBe(true);
  await serve.command.says(/other has a wrong value; allowed: a bcrypt hash/);
  serve.write('http_server_config: {}');
  expect((await serve.ask('/metrics', {})).status).toBe(401);
  serve.write(users({ other: hashOf('fourth') }));
  expect([await status('other:fourth'), await serve.isStale()]).toEqual([200, false]);
});

it('are refused under a name that they had before', async () => {
  const hash = hashOf('word');
  const serve = await new GuardedServe({ basic_auth_users: { before: hash } }, { auth: 'before:word' }).started();
  expect((await serve.ask('/metrics')).status).toBe(200);
  serve.write({ basic_auth_users: { after: hash } });
  expect((await serve.ask('/metrics')).status).toBe(401);
  expect((await serve.ask('/metrics', { auth: 'after:word' })).status).toBe(200);
});

it('log in for the first time while their address floods wrong passwords, some of which are turned away', async () => {
  const serve = await new GuardedServe(users({ other: hashOf('second') }), RIGHT).started();
  expect((await serve.ask('/metrics')).status).toBe(200);
  let isOver = false;
  let tries = 0;
  const statuses = new Set<string>();
  const flood = Array.from({ length: 48 }, async (_, i) => {
    while (!isOver) {
      const { status, headers } = await serve.ask('/metrics', { auth: `${i % 2 ? 'scraper' : 'stranger'}:${tries++}` });
      statuses.add(status === 503 ? `503 ${headers['retry-after']}` : String(status));
    }
  });
  await until(async () => (await serve.refusals('busy')) > 0 && (await serve.refusals('wrong_credentials')) > 0);
  expect((await serve.ask('/metrics', { auth: 'other:second' })).status).toBe(200);
  expect((await serve.ask('/livez', {})).status).toBe(200);
  isOver = true;
  await Promise.all(flood);
  expect(statuses).toEqual(new Set(['401', '503 1']));
  expect((await serve.command.stop('SIGTERM')).code).toBe(0);
});

it('get the headers of the file with each answer, in place of those of serve', async () => {
  const headers = { 'X-Frame-Options': 'deny', 'Content-Security-Policy': "default-src 'none'" };
  const serve = await new GuardedServe({ ...users(), http_server_config: { headers } }, RIGHT).started();
  const { headers: got } = await serve.ask('/page/page/browser/main.js');
  expect(got).toMatchObject({ 'x-frame-options': 'deny', 'content-security-policy': "default-src 'none'" });
  expect((await serve.ask('/metrics', {})).headers['x-frame-options']).toBe('deny');
});

it('and all others are limited to the rate of the file, except for the status of probes', async () => {
  const rate_limit = { interval: '1h', burst: 3 };
  const serve = await new GuardedServe({ ...users(), rate_limit }, RIGHT).started();
  const statuses: number[] = [];
  for (const where of ['/metrics', '/', '/metrics', '/metrics', '/']) statuses.push((await serve.ask(where)).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429]);
  expect(await serve.ask('/livez', {})).toMatchObject({ status: 200, text: 'alive\n' });
  await serve.command.says(/refused \(rate_limit\): Too many requests/);
  serve.write({ ...users(), rate_limit: { interval: 0 } });
  expect(await serve.refusals('rate_limit')).toBe(2);
});

it('need none with an empty file, which serve says', async () => {
  const serve = await new GuardedServe('', {}).started();
  await serve.command.says(/web\.yml: it protects nothing: it has neither TLS nor users/);
  expect((await serve.ask('/metrics')).status).toBe(200);
  serve.write(users());
  expect((await serve.ask('/metrics')).status).toBe(200); // kinds of proof count from the start
  expect(await serve.isStale()).toBe(true);
});
