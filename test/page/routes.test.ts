/** Responses with the live page over HTTP. test/browser tests the page in a browser. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { type RunningCommand, start, temporaryDirectory } from '../cli/command.js';

/** All files of the page, with gzip as serve sends them. */
const MOST_PACKED_BYTES = 148_000;
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
  let packedBytes = 0;
  const follow = async (url: URL): Promise<void> => {
    if (seen.has(url.pathname)) return;
    seen.add(url.pathname);
    const answer = await fetch(url, { headers: { 'accept-encoding': 'gzip' } });
    if (url.pathname !== '/metrics') packedBytes += Number(answer.headers.get('content-length'));
    expect({ url: url.pathname, status: answer.status }).toEqual({ url: url.pathname, status: 200 });
    const imports = (await answer.text()).matchAll(/^(?:import|export) [^;]*?from '(.*?)';$/gm);
    for (const [, name] of url.pathname.endsWith('.js') ? imports : []) {
      expect(name, `${url.pathname} imports only files that the server has`).toMatch(/^\./);
      await follow(new URL(name!, url));
    }
  };
  for (const [, name] of text.matchAll(/(?:href|src)="([^"]+)"/g)) await follow(at(name!));
  const scripts = ['ground/exact.js', 'view/verdict/verdict.js', 'page/browser/charts/uplot.js'];
  expect([...seen]).toEqual(expect.arrayContaining(['/metrics', ...scripts.map((name) => `/page/${name}`)]));
  // A proxy may serve the page below another path.
  for (const pathname of seen) expect(pathname).toMatch(/^\/(metrics$|page\/)/);
  expect(packedBytes + Number(page.headers.get('content-length'))).toBeLessThanOrEqual(MOST_PACKED_BYTES);
  expect(await (await fetch(at('/'))).text()).toContain('They are at /metrics');
});

it('packs a file as small as gzip can, once, and gives it unpacked to a client that asks for that', async () => {
  const { at } = await serve(temporaryDirectory());
  const asked = async (encoding: string) => {
    const answer = await fetch(at('/page/ground/exponential.js'), { headers: { 'accept-encoding': encoding } });
    const { headers } = answer;
    return {
      text: await answer.text(),
      encoding: headers.get('content-encoding'),
      bytes: headers.get('content-length'),
    };
  };
  const plain = await asked('identity');
  const smallest = gzipSync(plain.text, { level: 9 }).length;
  expect(plain).toMatchObject({ encoding: null, bytes: String(Buffer.byteLength(plain.text)) });
  for (let i = 0; i < 2; i++) {
    expect(await asked('gzip')).toEqual({ text: plain.text, encoding: 'gzip', bytes: String(smallest) });
  }
});

it('is off with --page off', async () => {
  const { at } = await serve(temporaryDirectory(), '--page', 'off');
  const index = await fetch(at('/'), BROWSER);
  expect([index.headers.get('content-type'), await index.text()]).toEqual([
    'text/plain; charset=utf-8',
    expect.stringContaining('/metrics'),
  ]);
  for (const path of ['/api/v1/agents', '/page/page/browser/main.js', '/page/ground/exact.js']) {
    expect((await fetch(at(path))).status).toBe(404);
  }
});

it('is served beside exporters that push, if an address is given', async () => {
  const { at } = await serve(temporaryDirectory(), '--exporter', 'console');
  expect((await fetch(at('/'), BROWSER)).headers.get('content-type')).toContain('text/html');
});
