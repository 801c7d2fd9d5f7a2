/** The page without agents, with very many, with broken files and hostile names, and after the end of serve. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { oneLine } from '../../src/one-line.js';
import { EVENTS } from '../../src/mapping/index.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { type RunningCommand, start, startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { chromiumPath, DESKTOP, numbersIn, openPage, PHONE } from './browser.js';

async function startServe(dir: string, ...flags: string[]): Promise<{ serve: RunningCommand; url: string }> {
  const serve = start(['serve', '--dir', dir, '--port', '0', ...flags]);
  const [, url] = await serve.says(/serves (http:\S+) from/);
  return { serve, url: url! };
}

function writeAgent(dir: string, name: string, txBytes: bigint): void {
  mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
  const writer = new RingWriter(path.join(dir, name), { wireVersion: 4, capacity: 64 });
  writer.push({ type: 0, value: txBytes });
  writer.close();
}

describe.skipIf(chromiumPath() === undefined)('the page', () => {
  it('names its directories when there are no rings, and shows the first ring without a reload', async () => {
    const dir = temporaryDirectory();
    const { page } = await openPage((await startServe(dir)).url);
    expect(await page.locator('#none').innerText()).toContain(dir);
    expect(await page.locator('#none').innerText()).toContain('NIXL_TELEMETRY_ENABLE=y');
    expect(await page.locator('#count').innerText()).toBe('0 agents');
    expect(await page.locator('#problems').isVisible()).toBe(false);
    writeAgent(dir, 'first', 7n);
    await page.locator('#agents').getByText('first').waitFor();
    expect(await page.locator('#none').isVisible()).toBe(false);
    expect(await page.locator('#count').innerText()).toBe('1 agent');
  });

  it('lists files that are no rings beside agents that are', async () => {
    const dir = temporaryDirectory();
    writeAgent(dir, 'good', 7n);
    writeFileSync(path.join(dir, 'broken<b>'), Buffer.alloc(5000, 0xff));
    const { page } = await openPage((await startServe(dir)).url);
    await page.locator('#agents').getByText('good').waitFor();
    const listed = page.locator('#problem-list li');
    await listed.first().waitFor();
    expect(await listed.allInnerTexts()).toEqual([expect.stringMatching(/broken<b> is (corrupt|incompatible): .+/)]);
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
    const shown = await until(async () => {
      const rows = Object.keys(await numbersIn(page.locator('#agents')));
      return rows.length === names.length && rows;
    });
    expect(new Set(shown)).toEqual(new Set(names.map(oneLine)));
    expect(shown).toContain('a\\x0ab\\x07');
    expect(await page.locator('#agents img, #agents script').count()).toBe(0);
    await page.getByRole('button', { name: '<img src=x onerror=alert(1)>' }).click();
    expect(await page.locator('#chosen-name').innerText()).toBe(names[0]);
    expect(await widthOf(page)).toBe(PHONE.width);
  });

  it.each([
    ['phone', PHONE],
    ['desktop', DESKTOP],
  ])('holds 64 agents at the width of a %s', async (_, viewport) => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--agents', '64', '--seconds', '0', '--rate', '10', '--sizes', '4k:1']);
    const { page } = await openPage((await startServe(dir)).url, { viewport });
    const rows = await until(async () => {
      const found = Object.entries(await numbersIn(page.locator('#agents')));
      return found.length === 64 && found.every(([, { requests }]) => requests! > 0) && found;
    });
    expect(rows.map(([name]) => name)).toEqual(Array.from({ length: 64 }, (_, i) => `agent-${i}`));
    expect(await widthOf(page)).toBe(viewport.width);
    const table = page.getByRole('region', { name: 'Agents' });
    expect((await table.boundingBox())!.height).toBeLessThan(600);
    for (const chart of await page.locator('.chart canvas').all()) {
      expect((await chart.boundingBox())!.width).toBeGreaterThan(viewport.width / 4);
    }
  });

  it.each([
    ['phone', PHONE],
    ['desktop', DESKTOP],
  ])('holds numbers as large as there are at the width of a %s', async (_, viewport) => {
    const dir = temporaryDirectory();
    const writer = new RingWriter(path.join(dir, 'agent'), { wireVersion: 4, capacity: 64 });
    for (const { type } of [...EVENTS, ...EVENTS]) writer.push({ type, value: 2n ** 64n - 1n });
    writer.close();
    const { page } = await openPage((await startServe(dir)).url, { viewport });
    await page.locator('#errors tbody tr').first().waitFor();
    expect(await widthOf(page)).toBe(viewport.width);
    const boxes = await page
      .locator('#totals > div, .card:not(.scrolls), figure')
      .evaluateAll((all: Box[]) =>
        all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ innerText }) => innerText),
      );
    expect(boxes).toEqual([]);
    expect(await page.locator('#totals').innerText()).toMatch(/18.\dT s/);
  });

  it('draws visible lines', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0']);
    const { page } = await openPage((await startServe(dir)).url);
    const canvas = page.locator('#throughput canvas');
    const [red, green, blue] = [0x25, 0x63, 0xc9]; // --tx in light
    await until(() =>
      canvas.evaluate(
        (drawn, colour) => {
          const { width, height } = drawn as Canvas;
          const { data } = (drawn as Canvas).getContext('2d').getImageData(0, 0, width, height);
          let count = 0;
          for (let i = 0; i < data.length; i += 4) {
            if (colour.every((part, j) => Math.abs(data[i + j]! - part) < 8)) count++;
          }
          return count > 20;
        },
        [red, green, blue] as number[],
      ),
    );
  });

  it.each([
    ['on', 12],
    ['off', 5],
  ])('reports that serve does not answer, and shows the values of the next serve: --state %s', async (state, next) => {
    const dir = temporaryDirectory();
    writeAgent(dir, 'agent', 7n);
    const { serve, url } = await startServe(dir);
    const { page, complaints } = await openPage(url);
    const bytes = async () => (await numbersIn(page.locator('#agents')))['agent']?.['tx bytes'];
    await until(async () => (await bytes()) === 7);
    await serve.stop('SIGKILL');
    await page.locator('html[data-state=stale]').waitFor();
    expect(await page.locator('#state').innerText()).toContain('No answer');
    expect(await bytes()).toBe(7);
    complaints.length = 0; // refused connections are expected here
    writeAgent(dir, 'agent', 5n);
    await startServe(dir, '--port', new URL(url).port, '--state', state);
    await page.locator('html[data-state=live]').waitFor();
    await until(async () => (await bytes()) === next);
    complaints.length = 0;
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

    const pause = page.getByRole('button', { name: 'Pause' });
    await pause.click();
    expect(await pause.getAttribute('aria-pressed')).toBe('true');
    expect(await page.locator('#state').innerText()).toBe('Paused');
    writeAgent(dir, 'late', 7n);
    asked.length = 0;
    await page.clock.runFor(60_000);
    expect(asked).toEqual([]);
    expect(await page.locator('#count').innerText()).toBe('0 agents');
    await pause.click();
    await page.locator('#agents').getByText('late').waitFor();
  });
});

function widthOf(page: { evaluate(script: string): Promise<unknown> }): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth');
}

interface Box {
  scrollWidth: number;
  clientWidth: number;
  innerText: string;
}

interface Canvas {
  width: number;
  height: number;
  getContext(kind: '2d'): { getImageData(x: number, y: number, w: number, h: number): { data: Uint8ClampedArray } };
}
