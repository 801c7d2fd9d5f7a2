/** accept, told to real serves. That it ends a finding is tested on the page: test/browser/slow.test.ts. */
import { expect, it } from 'vitest';
import { start, temporaryDirectory } from './command.js';
import { runHere } from './in-process.js';

it('says that nothing is slow, and refuses what is no question', async () => {
  const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0', '--state', 'off']);
  const [, url] = await serve.says(/serves (http:\/\/[^/]+)\/metrics/);
  await expect.poll(async () => (await fetch(`${url}/api/v1/agents`)).status).toBe(200);
  const none = await runHere(['accept', '--agent', 'tp*', '--url', url!]);
  expect(none.stderr).toContain('does not take it: None of these agents is found slow or uneven now.');
  expect(none.code).toBe(1);

  const post = async (body: string, headers: Record<string, string> = {}) => {
    const json = { 'content-type': 'application/json', ...headers };
    return (await fetch(`${url}/api/v1/accept`, { method: 'POST', headers: json, body })).status;
  };
  expect(await post('{}')).toBe(409);
  for (const body of ['', '[]', 'null', '{"agent":""}', '{"agent":1}', '{"ids":1}', '{"ids":["a"]}']) {
    expect(await post(body)).toBe(400);
  }
  expect(await post('{}', { origin: 'https://elsewhere.example' })).toBe(403);
});

it('says that no serve answers', async () => {
  const { stderr, code } = await runHere(['accept', '--url', 'http://127.0.0.1:1']);
  expect(stderr).toMatch(/error: http:\/\/127\.0\.0\.1:1 does not take it: /m);
  expect(code).toBe(1);
});
