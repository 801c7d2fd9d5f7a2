/** Responses with the live page over HTTP. test/page tests the page in a browser. */
import path from 'node:path';
import { expect, it } from 'vitest';
import type { PageData } from '../../../src/cli/page/page-data.js';
import { RingWriter } from '../../../src/shm-bridge/index.js';
import { inspectRing } from '../../../src/shm-bridge/ring.js';
import { type RunningCommand, start, temporaryDirectory, until } from '../command.js';

const BROWSER = { headers: { accept: 'text/html,*/*;q=0.8' } };

async function serve(dir: string, ...flags: string[]): Promise<{ at: (path: string) => URL; serve: RunningCommand }> {
  const running = start(['serve', '--dir', dir, '--port', '0', ...flags]);
  const [, url] = await running.says(/serves (http:\S+) from/);
  return { at: (path) => new URL(path, url), serve: running };
}

it('gives a browser the page with all of its files from this server, and other clients one line', async () => {
  const { at } = await serve(temporaryDirectory());
  const page = await fetch(at('/'), BROWSER);
  const policy = page.headers.get('content-security-policy')!;
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).not.toMatch(/unsafe|https?:|data:|\*/);
  expect(page.headers.get('vary')).toContain('accept');
  const text = await page.text();
  expect(text).not.toMatch(/https?:\/\//);
  const seen = new Set<string>();
  const follow = async (url: URL): Promise<void> => {
    if (seen.has(url.pathname)) return;
    seen.add(url.pathname);
    const answer = await fetch(url);
    expect({ url: url.pathname, status: answer.status }).toEqual({ url: url.pathname, status: 200 });
    const imports = (await answer.text()).matchAll(/^(?:import|export) [^;]*?from '(.*?)';$/gm);
    for (const [, name] of url.pathname.endsWith('.js') ? imports : []) {
      expect(name, `${url.pathname} imports only files that the server has`).toMatch(/^\./);
      await follow(new URL(name!, url));
    }
  };
  for (const [, name] of text.matchAll(/(?:href|src)="([^"]+)"/g)) await follow(at(name!));
  const scripts = ['exact.js', 'cli/figures/formats.js', 'cli/figures/rates.js', 'cli/page/browser/uplot.js'];
  expect([...seen]).toEqual(expect.arrayContaining(['/metrics', ...scripts.map((name) => `/page/${name}`)]));
  // A proxy may serve the page below another path.
  for (const pathname of seen) expect(pathname).toMatch(/^\/(metrics$|page\/)/);
  expect(await (await fetch(at('/'))).text()).toContain('They are at /metrics');
});

it('is off with --page off', async () => {
  const { at } = await serve(temporaryDirectory(), '--page', 'off');
  const index = await fetch(at('/'), BROWSER);
  expect([index.headers.get('content-type'), await index.text()]).toEqual([
    'text/plain; charset=utf-8',
    expect.stringContaining('/metrics'),
  ]);
  for (const path of ['/page/data.json', '/page/cli/page/browser/main.js', '/page/exact.js']) {
    expect((await fetch(at(path))).status).toBe(404);
  }
});

it('is served beside exporters that push, if an address is given', async () => {
  const { at } = await serve(temporaryDirectory(), '--exporter', 'console');
  expect((await fetch(at('/'), BROWSER)).headers.get('content-type')).toContain('text/html');
});

it('drains no ring', async () => {
  const dir = temporaryDirectory();
  const file = path.join(dir, 'agent');
  const writer = new RingWriter(file, { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: 5n });
  // The first drain is immediate, and the next one ten seconds later.
  const { at } = await serve(dir, '--drain-interval', '10000');
  const data = async () => (await (await fetch(at('/page/data.json'))).json()) as PageData;
  await until(async () => (await data()).agents[0]?.txBytes === 5);
  writer.push({ type: 0, value: 6n });
  const before = (await data()).takenMs;
  await until(async () => (await data()).takenMs > before);
  expect(inspectRing(file)).toMatchObject({ state: 'ready', pending: 1 });
  writer.close();
});
