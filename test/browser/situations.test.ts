/** The page without agents, with very many, with broken files and hostile names, and after the end of serve. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { oneLine } from '../../src/ground/one-line.js';
import { EVENTS } from '../../src/mapping/index.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { start, startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { slowExporterFlags } from '../support/slow-exporter.js';
import { chromiumPath, DESKTOP, namesIn, numbersIn, openPage, PHONE, pixelsOf, rowsOf, startServe } from './browser.js';

function writeAgent(dir: string, name: string, txBytes: bigint): void {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  const writer = new RingWriter(path.join(dir, name), { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: txBytes });
  writer.close();
}

describe.skipIf(chromiumPath() === undefined)('the page', () => {
  it('says what to check when there are no rings, and shows the first ring without a reload', async () => {
    const dir = temporaryDirectory();
    const { page } = await openPage((await startServe(dir)).url);
    expect(await page.locator('#word').innerText()).toBe('No agents yet');
    expect(await page.locator('#sentence').innerText()).toContain(dir);
    expect(await page.locator('#variables').innerText()).toBe(`NIXL_TELEMETRY_ENABLE=y\nNIXL_TELEMETRY_DIR=${dir}`);
    expect(await page.locator('#doctor').innerText()).toBe(`nixl-otel doctor --dir ${dir}`);
    expect(await page.locator('#charts').isVisible()).toBe(false);
    writeAgent(dir, 'first', 7n);
    expect(await rowsOf(page, 1)).toEqual(['first']);
    expect(await page.locator('#none').isVisible()).toBe(false);
  });

  it('is there while serve starts, says so, and shows figures without a reload', async () => {
    const serve = start(['serve', '--dir', temporaryDirectory(), ...slowExporterFlags(temporaryDirectory())]);
    const [, url] = await serve.says(/loading, at (http:\S+)/);
    const { page, complaints } = await openPage(url!, {}, '', ['loading']);
    await page.locator('#word', { hasText: 'No figures' }).waitFor();
    const { host } = new URL(url!);
    expect(await page.locator('#sentence').innerText()).toContain(`${host} has given none yet (status 503: Starting.)`);
    serve.child.kill('SIGUSR2');
    await page.locator('html[data-state=empty]').waitFor();
    complaints.length = 0; // refused requests are expected here
  });

  it('names globs, the directory that agents need, and a collector with rare turns that is not late', async () => {
    const dir = temporaryDirectory();
    const config = path.join(temporaryDirectory(), 'config.yaml');
    writeFileSync(config, `globs: ['${dir}/job-*']\n`);
    const serve = start([
      'serve',
      '--config',
      config,
      '--port',
      '0',
      '--drain-interval',
      '10000',
      '--hostname',
      'node-7',
    ]);
    const { page } = await openPage((await serve.says(/serves (http:\S+) from/))[1]!);
    expect(await page.locator('#sentence').innerText()).toContain(`${dir}/job-*`);
    expect(await page.locator('#host').innerText()).toBe('node-7');
    expect(await page.locator('#variables').innerText()).toBe(`NIXL_TELEMETRY_ENABLE=y\nNIXL_TELEMETRY_DIR=${dir}`);
    expect(await page.locator('#doctor').innerText()).toBe(`nixl-otel doctor --dir ${dir}`);
    const sights = (): Promise<string> => page.locator('#sights').innerText();
    await until(async () => /looked [2-9]\ss ago/.test(await sights()));
    expect(await sights()).toContain(`No ring matches ${dir}/job-*`);
    expect(await sights()).toContain('The collector thread has its turns');
  });

  it('names files that are no rings beside agents that are', async () => {
    const dir = temporaryDirectory();
    writeAgent(dir, 'good', 7n);
    writeFileSync(path.join(dir, 'broken<b>'), Buffer.alloc(5000, 0xff));
    const { page } = await openPage((await startServe(dir)).url);
    await rowsOf(page, 1);
    await until(async () => (await page.locator('#sentence').innerText()).includes('broken<b>'));
    expect(await page.locator('#strip').getAttribute('data-tone')).toMatch(/warn|bad/);
  });

  it('shows names as text, also names with HTML', async () => {
    const dir = temporaryDirectory();
    const names = [
      '<img src=x onerror=alert(1)>',
      '"><script>alert(2)<',
      '\u202egnp.exe',
      'a\nb\u0007',
      '${alert(3)}',
      'x'.repeat(200),
    ];
    for (const name of names) writeAgent(dir, name, 7n);
    const { page } = await openPage((await startServe(dir)).url, { viewport: PHONE });
    expect(new Set(await rowsOf(page, names.length))).toEqual(new Set(names.map(oneLine)));
    expect(await namesIn(page)).toContain('a\\x0ab\\x07');
    expect(await page.locator('#agents img, #agents script').count()).toBe(0);
    await page.getByRole('link', { name: '<img src=x onerror=alert(1)>' }).click();
    await until(async () => (await page.locator('#panel-name').innerText()) === names[0]);
    expect(await widthOf(page)).toBe(PHONE.width);
  });

  it('has elements only for the rows in view, and finds any of 300 agents', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--agents', '300', '--seconds', '0', '--rate', '1', '--sizes', '4k:1']);
    const { page } = await openPage((await startServe(dir)).url);
    await until(async () => /All\s*300/.test(await page.locator('#chips').innerText()));
    const rows = page.locator('#agents-body tr:not([aria-hidden])');
    expect(await rows.count()).toBeLessThan(60);
    expect(await page.evaluate<number>(`document.querySelectorAll('*').length`)).toBeLessThan(4000);
    expect(await page.locator('#agents-table').getAttribute('aria-rowcount')).toBe('301');
    await page.keyboard.press('/');
    await page.keyboard.type('T-299');
    expect(await rowsOf(page, 1)).toEqual(['agent-299']);
    await page.keyboard.press('Escape');
    await until(async () => (await namesIn(page))[0] === 'agent-0');
    await page.evaluate(`document.getElementById('scroller').scrollTop = 1e6`);
    await until(async () => (await namesIn(page)).at(-1) === 'agent-299');
    expect(await rows.count()).toBeLessThan(60);
  });

  it.each([
    ['phone', PHONE],
    ['desktop', DESKTOP],
  ])('holds numbers as large as there are at the width of a %s', async (_, viewport) => {
    const dir = temporaryDirectory();
    const writer = new RingWriter(path.join(dir, 'agent'), { wireVersion: 4, capacity: 64 });
    for (const { type } of [...EVENTS, ...EVENTS]) writer.push({ type, value: 2n ** 64n - 1n });
    writer.close();
    const { page } = await openPage((await startServe(dir)).url, { viewport }, '#agent=agent');
    await page.locator('#panel-errors tbody tr').first().waitFor();
    expect(await widthOf(page)).toBe(viewport.width);
    // A long sentence leaves room for its remedy.
    for (const remedy of await page.locator('#findings .remedy:not(:empty)').all()) {
      expect((await remedy.boundingBox())!.width).toBeGreaterThan(viewport.width / 4);
    }
    expect((await numbersIn(page.locator('#panel')))['tx']).toBeGreaterThan(1e18);
  });

  it('draws visible lines', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0']);
    const { page } = await openPage((await startServe(dir)).url);
    await until(async () => (await pixelsOf(page.locator('#throughput canvas'), [0x24, 0x63, 0xd6])) > 20); // --tx in light
  });

  it.each([
    ['on', 12],
    ['off', 5],
  ])('says that serve does not answer, and shows the values of the next serve: --state %s', async (state, next) => {
    const dir = temporaryDirectory();
    writeAgent(dir, 'agent', 7n);
    const { serve, url } = await startServe(dir);
    const { page, complaints } = await openPage(url, {}, '#agent=agent');
    const bytes = async () => (await numbersIn(page.locator('#panel')))['tx'];
    await until(async () => (await bytes()) === 7);
    await serve.stop('SIGKILL');
    await page.locator('html[data-state=stale]').waitFor();
    expect(await page.locator('#word').innerText()).toContain('Stale');
    await until(async () => /\d\ss old/.test(await page.locator('#big-throughput .tag').innerText()));
    // The time without an answer is no time without errors.
    const quiet = () => page.locator('#errors .quiet').innerText();
    const age = async () => Number(/\d+/.exec(await page.locator('#big-throughput .tag').innerText())![0]);
    const [known, since] = [await quiet(), await age()];
    await until(async () => (await age()) >= since + 3);
    expect(await quiet()).toBe(known);
    expect(await bytes()).toBe(7);
    complaints.length = 0; // refused connections are expected here
    writeAgent(dir, 'agent', 5n);
    await startServe(dir, '--port', new URL(url).port, '--state', state);
    await page.locator('html[data-state=live]').waitFor();
    await until(async () => (await bytes()) === next);
    complaints.length = 0;
  });

  it('has the last minutes at once after a reload', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0']);
    const { page } = await openPage((await startServe(dir)).url, {}, '#span=60');
    const points = async () => {
      const path = (await page.locator('#big-throughput path.line').getAttribute('d')) ?? '';
      return path.match(/[ML]/g)?.length ?? 0;
    };
    await until(async () => (await points()) > 5);
    await page.clock.install();
    await page.reload();
    await page.locator('html[data-state=live]').waitFor();
    // The clock of the page stands still: it has asked once.
    expect(await points()).toBeGreaterThan(5);
  });

  it('sends no requests while it is paused or invisible', async () => {
    const dir = temporaryDirectory();
    const { page } = await openPage((await startServe(dir)).url);
    await page.clock.install();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.waitForResponse(/api\/v1\/agents/);
    await page.clock.runFor(5000);
    await until(() => Promise.resolve(asked.length > 1));

    const hide = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
         document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await hide(true);
    await page.waitForLoadState('networkidle');
    asked.length = 0;
    await page.clock.runFor(60_000);
    expect(asked).toEqual([]);
    await hide(false);
    await until(() => Promise.resolve(asked.length > 0));

    await page.keyboard.press('Space');
    const pause = page.getByRole('button', { name: 'Resume' });
    expect(await pause.getAttribute('aria-pressed')).toBe('true');
    expect(await page.locator('#state').innerText()).toBe('PAUSED');
    writeAgent(dir, 'late', 7n);
    await page.waitForLoadState('networkidle');
    asked.length = 0;
    await page.clock.runFor(60_000);
    expect(asked).toEqual([]);
    expect(await page.locator('#word').innerText()).toBe('No agents yet');
    await pause.click();
    await until(async () => (await namesIn(page)).includes('late'));
  });
});

function widthOf(page: { evaluate(script: string): Promise<unknown> }): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth');
}
