/** /readyz of a real serve: 503 while it starts, while its collector thread is blocked, and while it stops. */
import { expect, it } from 'vitest';
import { readiness } from '../../src/serve/http/health.js';
import { InMemorySource } from '../instrumentation/in-memory-source.js';
import { CollectorStop } from '../support/held-up.js';
import { slowExporterFlags } from '../support/slow-exporter.js';
import { scrape, start, temporaryDirectory, until, valueOf } from './command.js';

async function readyz(base: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(new URL('/readyz', base));
  return { status: answer.status, text: (await answer.text()).trimEnd() };
}

it('is 503 while serve starts, 200 while it serves, and 503 again while it stops', async () => {
  const serve = start(['serve', '--dir', temporaryDirectory(), ...slowExporterFlags(temporaryDirectory())]);
  const [, base] = await serve.says(/loading, at (http:\S+)/);
  expect(await readyz(base!)).toEqual({ status: 503, text: 'starting' });
  for (const where of ['/metrics', '/api/v1/agents', '/api/v1/history?agents=all']) {
    const { status, headers } = await fetch(new URL(where, base));
    expect([where, status, headers.get('retry-after')]).toEqual([where, 503, '1']);
  }
  for (const where of ['/', '/page/page/browser/main.js']) {
    const { status, headers } = await fetch(new URL(where, base), { headers: { accept: 'text/html,*/*;q=0.8' } });
    const type = where === '/' ? 'text/html' : 'text/javascript';
    expect([where, status, headers.get('content-type')]).toEqual([where, 200, `${type}; charset=utf-8`]);
  }
  serve.child.kill('SIGUSR2');
  await expect.poll(() => readyz(base!)).toEqual({ status: 200, text: 'ready, 0 agents' });
  expect((await fetch(new URL('/api/v1/agents', base))).status).toBe(200);
  serve.child.kill('SIGTERM');
  await serve.says(/shutting down/);
  expect(await readyz(base!)).toEqual({ status: 503, text: 'stopping' });
  expect((await fetch(new URL('/livez', base))).status).toBe(200);
  expect(await serve.stop('SIGUSR2')).toMatchObject({ code: 0 });
});

it('is 503 while the collector thread is blocked, and 200 when it continues', async () => {
  const collector = new CollectorStop();
  const serve = start(['serve', '--dir', temporaryDirectory(), '--port', '0'], collector.env);
  const [url] = await serve.says(/http:\S+metrics/);
  const becomes = (wanted: number) =>
    until(async () => {
      const { status, text } = await readyz(url);
      return status === wanted && text;
    });
  await becomes(200);
  collector.hold('s');
  expect(await becomes(503)).toMatch(/^the collector thread has had no turn for [\d.]+ s/);
  collector.release();
  expect(await becomes(200)).toMatch(/^ready, 0 agents/);
  const page = await scrape(url);
  expect(valueOf(page, 'nixl_collector_late_ticks_total')).toBeGreaterThanOrEqual(1);
  expect(valueOf(page, 'nixl_collector_lag_max')).toBeGreaterThan(1);
  expect(await serve.stop()).toMatchObject({ code: 0 });
});

it.each([
  [20, 1000, true],
  [20, 1001, false],
  [10_000, 100_000, true],
  [10_000, 100_001, false],
])('drained every %i ms, without a turn for %i ms: ready is %s', (drainIntervalMs, sinceTickMs, ready) => {
  const source = new InMemorySource();
  source.collector = { ...source.collector, drainIntervalMs, sinceTickMs };
  expect(readiness(source.snapshot()).ready).toBe(ready);
});

it('counts what it reads all the same as read', () => {
  const problems = (['deleted', 'no_space', 'denied'] as const).map((state) => ({ path: '/r', state, reason: 'why' }));
  const { text } = readiness({ ...new InMemorySource().snapshot(), problems, problemCount: 3 });
  expect(text.split('\n').slice(0, 2)).toEqual(['ready, 0 agents; not read: 1 file', 'warning: "/r" is deleted: why']);
});

it('lists some of the rings that cannot be read, and the number of further ones', () => {
  const problems = Array.from({ length: 25 }, (_, i) => ({ path: `/r/${i}`, state: 'busy' as const, reason: 'held' }));
  const { ready, text } = readiness({ ...new InMemorySource().snapshot(), problems, problemCount: 1025 });
  expect(ready).toBe(true);
  const lines = text.split('\n');
  expect(lines).toEqual([
    'ready, 0 agents; not read: 1,025 files',
    'waits: 25 files, the first "/r/0", are busy: held',
    'and 1000 more',
  ]);
  const apart = problems.map((problem, i) => ({ ...problem, reason: `reason ${i}` }));
  const each = readiness({ ...new InMemorySource().snapshot(), problems: apart, problemCount: 1025 }).text.split('\n');
  expect(each).toHaveLength(22);
  expect(each[1]).toBe('waits: "/r/0" is busy: reason 0');
  expect(each.at(-1)).toBe('and 1005 more');
});

it('is ready without a usable state file, and says why there is none', () => {
  const source = new InMemorySource();
  source.stateProblems = [{ path: '/r/a', reason: 'the folder .nixl-otel cannot be made: no space' }];
  expect(readiness(source.snapshot())).toEqual({
    ready: true,
    text: 'ready, 0 agents\nwarning: state file of "/r/a": the folder .nixl-otel cannot be made: no space',
  });
  source.stateProblems = Array.from({ length: 25 }, (_, i) => ({ path: `/r/${i}`, reason: 'no space' }));
  expect(readiness(source.snapshot()).text.split('\n').slice(20)).toEqual([
    'warning: state file of "/r/19": no space',
    'and 5 more',
  ]);
});
