/** Layout on any screen: nothing overlaps, wraps, scrolls sideways, or moves under the pointer. */
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { chromiumPath, openPage, PHONE, startServe } from './browser.js';

interface Box {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly isCut: boolean;
}

async function boxesOf(page: Page, selector: string): Promise<Box[]> {
  return page.locator(selector).evaluateAll((all: Measured[]) =>
    all.map((one) => {
      const { x, y, width, height } = one.getBoundingClientRect();
      return { id: one.id || one.className, x, y, width, height, isCut: one.scrollWidth > one.clientWidth + 1 };
    }),
  );
}

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.width - 0.5 && b.x < a.x + a.width - 0.5 && a.y < b.y + b.height - 0.5 && b.y < a.y + a.height - 0.5;

async function openBusy(viewport: { width: number; height: number }, hash = ''): Promise<Page> {
  const dir = temporaryDirectory();
  startTransferSource(['--dir', dir, '--agents', '8', '--seconds', '0', '--rate', '20', '--errors', '20']);
  const { page } = await openPage((await startServe(dir)).url, { viewport }, hash);
  await until(async () => (await page.locator('#word').innerText()) === 'Transfers fail');
  await until(async () => (await page.locator('#errors .legend li').count()) >= 2);
  return page;
}

const WIDTHS = [
  [390, 1],
  [820, 2],
  [1366, 3],
  [1900, 4],
  [2560, 4],
  [3840, 4],
] as const;

describe.skipIf(chromiumPath() === undefined)('the layout of the page', () => {
  it.each(WIDTHS)(
    'at %d px has %d columns of charts with common edges, and nothing is cut or covered',
    async (width, columns) => {
      const page = await openBusy({ width, height: width === 390 ? 844 : 1200 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      // Read in one turn: a list of findings that opens moves all of them.
      const cards = await boxesOf(page, '#figures, #charts > figure, #agents');
      const charts = cards.slice(1, -1);
      expect(new Set(charts.map(({ y }) => y)).size).toBe(Math.ceil((8 + (columns === 3 ? 1 : 0)) / columns));
      expect(new Set(charts.map(({ x }) => x)).size).toBe(columns);
      for (const a of cards) expect(cards.filter((b) => b !== a && overlap(a, b))).toEqual([]);
      // Plots of one row begin and end at the same heights, and stay inside their cards.
      const plots = await boxesOf(page, '#charts .u-over');
      for (const chart of charts) {
        const row = charts.map(({ y }, i) => ({ y, plot: plots[i]! })).filter(({ y }) => y === chart.y);
        expect(new Set(row.map(({ plot }) => `${plot.y} ${plot.height}`)).size).toBe(1);
      }
      const canvases = await boxesOf(page, '#charts canvas');
      canvases.forEach((canvas, i) => expect(canvas.width).toBeLessThanOrEqual(charts[i]!.width));
      const cut = await boxesOf(page, '#scroller, #figures .value, .big .parts, #chips, .chart .title');
      expect(cut.filter(({ isCut }) => isCut)).toEqual([]);
      const lines = await boxesOf(page, '.legend-line, .big .parts, .chart .title');
      const rem = width >= 3200 ? 22 : 16;
      expect(lines.filter(({ height, isCut: _, ...line }) => line.width > 0 && height > 1.6 * rem)).toEqual([]);
    },
  );

  it('shows on a phone the parts in which names differ', async () => {
    const dir = temporaryDirectory();
    const name = 'prefill-llama-405b-instruct-fp8-tp';
    startTransferSource(['--dir', dir, '--agents', '3', '--seconds', '0', '--rate', '20', '--name', name]);
    const { page } = await openPage((await startServe(dir)).url, { viewport: PHONE });
    await until(async () => (await page.locator('#agents-body bdi b').allTextContents()).join() === '0,1,2');
    expect((await boxesOf(page, '#agents-body bdi b')).map(({ isCut, width }) => [isCut, width > 4])).toEqual(
      Array(3).fill([false, true]),
    );
    const links = await boxesOf(page, '#agents-body th a');
    (await boxesOf(page, '#agents-body bdi b')).forEach(({ x, width }, i) => {
      expect(x + width).toBeLessThanOrEqual(links[i]!.x + links[i]!.width + 1);
    });
  });

  it('fills the first screen of a phone with the verdict, throughput and p99', async () => {
    const page = await openBusy(PHONE);
    const [strip, throughput, time] = await boxesOf(page, '#strip, #big-throughput, #big-time');
    expect(strip!.y + strip!.height).toBeLessThan(throughput!.y);
    expect(time!.y + time!.height).toBeLessThanOrEqual(PHONE.height);
    expect(time!.y + time!.height).toBeGreaterThan(PHONE.height * 0.6);
  });

  it.each([1366, 2560])(
    'at %d px has the panel beside or over the content, and plots keep their cards',
    async (width) => {
      const page = await openBusy({ width, height: 1200 }, '#agent=agent-1');
      await page.locator('#panel-errors tbody tr').first().waitFor();
      const [panel] = await boxesOf(page, '#panel');
      const charts = await boxesOf(page, '#charts > figure');
      const canvases = await boxesOf(page, '#charts canvas');
      canvases.forEach((canvas, i) => expect(canvas.width).toBeLessThanOrEqual(charts[i]!.width));
      if (width >= 2560) expect(charts.filter((chart) => overlap(chart, panel!))).toEqual([]);
      expect((await boxesOf(page, '#panel')).filter(({ isCut }) => isCut)).toEqual([]);
    },
  );

  it('says a finding and its advice in full at 1366 px, in a strip that keeps its height', async () => {
    const dir = temporaryDirectory();
    const { url } = await startServe(dir);
    const { page } = await openPage(url, { viewport: { width: 1366, height: 900 } });
    const before = await boxesOf(page, '#strip');
    const name = 'prefill-llama-405b-instruct-fp8-tensor-parallel-7f3a9c1e-5b2d-4c8e-9a60-d41f2b7e8c35';
    const dying = startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '50', '--name', name]);
    await until(async () => /finished\s*[1-9]/.test(await page.locator('#requests .legend').innerText()));
    // The end of a process is seen only if the process was.
    await until(async () => (await (await fetch(new URL('/api/v1/agents', url))).text()).includes('"life":"alive"'));
    await dying.stop('SIGKILL');
    const sentence = page.locator('#sentence');
    await until(async () => (await sentence.innerText()).endsWith('say why.'));
    const cutPx = (one: Measured): number =>
      Math.max(one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight);
    expect(await sentence.evaluate(cutPx)).toBeLessThanOrEqual(1);
    expect((await boxesOf(page, '#strip')).map(({ height }) => height)).toEqual(before.map(({ height }) => height));
    // One finding, said in full, needs no list.
    await page.locator('#findings-button').waitFor({ state: 'hidden' });
    await page.setViewportSize(PHONE);
    await page.locator('#findings-button').waitFor({ state: 'visible' });
  });

  it('moves nothing under the pointer while numbers change and findings come', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--agents', '2', '--seconds', '0', '--rate', '50', '--name', 'well']);
    const { page } = await openPage((await startServe(dir)).url, { viewport: { width: 1366, height: 900 } });
    await until(async () => /finished\s*[1-9]/.test(await page.locator('#requests .legend').innerText()));
    const { x, y, width, height } = (await page.locator('#requests .u-over').boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2);
    const places = async () => (await boxesOf(page, '#charts > figure, #charts .u-over, #figures')).map(({ y }) => y);
    const before = await places();
    startTransferSource(['--dir', dir, '--agents', '2', '--seconds', '0', '--errors', '50', '--name', 'bad']);
    startTransferSource([
      '--dir',
      dir,
      '--seconds',
      '0',
      '--rate',
      '0',
      '--copy-free',
      '--buffer-size',
      '16',
      '--name',
      'full',
    ]);
    await until(async () => /[2-9]\sfindings/.test(await page.locator('#findings-button').innerText()));
    expect(await places()).toEqual(before);
    expect(await page.locator('#requests .cursor-time').isVisible()).toBe(true);
    await page.locator('#findings-button').click();
    expect(await page.locator('#findings li').count()).toBeGreaterThanOrEqual(2);
  });
});

interface Measured {
  id: string;
  className: string;
  scrollWidth: number;
  clientWidth: number;
  scrollHeight: number;
  clientHeight: number;
  getBoundingClientRect(): { x: number; y: number; width: number; height: number };
}
