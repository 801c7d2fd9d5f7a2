/** maintenance, told to real serves, and who may tell it. */
import path from 'node:path';
import { expect, it } from 'vitest';
import type { AgentsAnswer } from '../../../src/view/answers/answer.js';
import { start, temporaryDirectory } from '../command.js';
import { runHere } from '../in-process.js';

async function served(directory: string, ...flags: readonly string[]) {
  const serve = start(['serve', '--dir', directory, '--port', '0', ...flags]);
  const [, url] = await serve.says(/serves (http:\/\/[^/]+)\/metrics/);
  await expect.poll(async () => (await fetch(`${url}/api/v1/agents`)).status).toBe(200);
  return { serve, url: url! };
}

async function announced(url: string) {
  return ((await (await fetch(`${url}/api/v1/agents`)).json()) as AgentsAnswer).maintenance ?? [];
}

it('begins and ends maintenance, which the next serve knows, too', async () => {
  const directory = temporaryDirectory();
  const { serve, url } = await served(directory);
  const begun = await runHere(['maintenance', 'start', '--for', '10m', '--agent', 'tp*', '--url', url, 'new', 'image']);
  expect(begun).toMatchObject({ code: 0, stderr: '' });
  expect(begun.stdout).toMatch(/: maintenance has begun, for 10 min\n$/);
  await serve.says(/maintenance begins for agents tp\*: new image/);
  await expect.poll(() => announced(url)).toMatchObject([{ agent: 'tp*', text: 'new image' }]);
  const [{ beginMs, endMs }] = (await announced(url)) as [{ beginMs: number; endMs: number }];
  expect(endMs - beginMs).toBe(600_000);
  await serve.stop();

  const next = await served(directory);
  await expect.poll(() => announced(next.url)).toMatchObject([{ beginMs, endMs }]);
  expect((await runHere(['maintenance', 'end', '--agent', 'x*', '--url', next.url])).stderr).toContain(
    'no such maintenance',
  );
  expect((await runHere(['maintenance', 'end', '--url', next.url])).stdout).toMatch(/: maintenance has ended\n$/);
  await expect.poll(async () => (await announced(next.url))[0]!.endMs < endMs).toBe(true);
  const again = await runHere(['maintenance', 'end', '--url', next.url]);
  expect(again.stderr).toContain('no such maintenance');
  expect(again.code).not.toBe(0);
});

it.each([
  [['start', '--for', '10'], 'Allowed: a time as 90s, 10m or 2h'],
  [['start', '--for', '25h'], 'Allowed: a time as 90s, 10m or 2h'],
  [['end', '--for', '1m'], '--for needs start'],
  [['end', 'text'], 'a text needs start'],
  [['begin'], 'Allowed choices are start, end'],
])('refuses %j', async (flags, text) => {
  const { stderr, code } = await runHere(['maintenance', ...flags]);
  expect(stderr).toContain(text);
  expect(code).toBe(2);
});

it('takes a change of no page of another site, of no form, and of no other host', async () => {
  const { url } = await served(temporaryDirectory(), '--state', 'off');
  const post = async (headers: Record<string, string>, body = '{"action":"start"}', method = 'POST') => {
    const sent = method === 'POST' ? { body } : {};
    const json = { 'content-type': 'application/json' };
    return (await fetch(`${url}/api/v1/maintenance`, { method, headers: { ...json, ...headers }, ...sent })).status;
  };
  expect(await post({ origin: 'https://elsewhere.example' })).toBe(403);
  expect(await post({ origin: 'null' })).toBe(403);
  expect(await post({ 'content-type': 'text/plain' })).toBe(415);
  expect(await post({ 'content-type': 'application/x-www-form-urlencoded' })).toBe(415);
  expect(await post({ 'x-forwarded-for': '10.1.2.3' })).toBe(403);
  expect(await post({}, '', 'GET')).toBe(405);
  expect(await post({}, '', 'OPTIONS')).toBe(405);
  for (const body of [
    '',
    '[]',
    'null',
    '{"action":"stop"}',
    '{"action":"start","forMs":0}',
    '{"action":"start","text":""}',
  ]) {
    expect(await post({}, body)).toBe(400);
  }
  expect(await post({}, `{"action":"start","text":"${'x'.repeat(5000)}"}`)).toBe(413);
  expect(await announced(url)).toEqual([]);
  expect(await post({ origin: url })).toBe(200);
  await expect.poll(() => announced(url)).toHaveLength(1);
  expect((await fetch(`${url}/api/v1/agents`, { method: 'POST' })).status).toBe(405);
});

it('is taken over a Unix socket', async () => {
  const socket = path.join(temporaryDirectory(), 's');
  const serve = start(['serve', '--dir', temporaryDirectory(), '--listen', `unix:${socket}`, '--state', 'off']);
  await serve.says(/serves unix:/);
  await expect
    .poll(async () => (await runHere(['maintenance', 'start', '--url', `unix:${socket}`])).stdout)
    .toContain('maintenance has begun\n');
});
