/** Time by size on the page, of real agents whose transfers take the times that they are told. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { violations } from './axe.js';
import { chromiumPath, DESKTOP, openPage, PHONE, startServe } from './browser.js';

const SIZES = '4k:30,64k:30,1M:30,8M:10';

let dir = '';
let url = '';
beforeEach(async () => {
  dir = temporaryDirectory();
  ({ url } = await startServe(dir));
});

function startAgent(name: string, ...flags: string[]): void {
  const always = ['--dir', dir, '--seconds', '0', '--rate', '40', '--reads', '0', '--copy-free', '--exact-name'];
  startTransferSource([...always, '--base-us', '2000', '--name', name, ...flags]);
}

/** Delays of a busy machine are small beside these times. */
function startFleet(): void {
  for (const name of ['well-0', 'well-1', 'well-2']) startAgent(name, '--sizes', SIZES, '--bandwidth', '4G');
  startAgent('slow-link', '--sizes', SIZES, '--bandwidth', '100M');
  startAgent('tiny', '--sizes', '4k:1', '--bandwidth', '4G');
}

/** Returns the texts of the card's rows by the name of the agent. */
async function tableIn(page: Page): Promise<Record<string, string[]>> {
  const rows = await page.locator('#size-rows tr').all();
  const texts = await Promise.all(rows.map((row) => row.locator('th bdi, td').allInnerTexts()));
  return Object.fromEntries(texts.map(([name, ...cells]) => [name!, cells]));
}

const isSlow = (text: string | undefined): boolean => /^×\d/.test(text ?? '');

/** Waits until the slow link shows, with as many transfers as it needs. */
async function slowLinkIn(page: Page): Promise<Record<string, string[]>> {
  await page.locator('#time-by-size').waitFor();
  // Out of view it keeps its numbers.
  await page.locator('#time-by-size').scrollIntoViewIfNeeded();
  return until(async () => {
    const table = await tableIn(page);
    return isSlow(table['slow-link']?.[3]) && /B\/s$/.test(table['slow-link']!.at(-1)!) && table;
  });
}

describe.skipIf(chromiumPath() === undefined)('the card of time by size', () => {
  it('shows a slow link first, its large sizes against the peers, its rate, and no rate for a tiny agent', async () => {
    startFleet();
    const { page } = await openPage(url);
    const table = await slowLinkIn(page);
    expect(Object.keys(table)[0]).toBe('slow-link');
    expect(await page.locator('#size-columns').innerText()).toMatch(/4\sKiB\s+64\sKiB\s+1\sMiB\s+8\sMiB\s+Base/);
    expect(table['tiny']!.slice(1, 4)).toEqual(['', '', '']);
    expect(table['tiny']!.at(-1)).toBe('too few sizes');
    expect(table['slow-link']!.at(-1)).toMatch(/^(9\d\.\d|1[01]\d)\sMB\/s$/);
    expect(await page.locator('#size-help').innerText()).toContain('as the application saw');
    // One direction is no choice.
    expect(await page.getByRole('group', { name: 'Direction' }).isVisible()).toBe(false);
  });

  it('shows times and rates by keyboard, in the address, and opens an agent', async () => {
    startFleet();
    const { page } = await openPage(url);
    await slowLinkIn(page);
    await page.getByRole('button', { name: 'time', exact: true }).press('Enter');
    expect(page.url()).toContain('#measure=time');
    expect((await tableIn(page))['slow-link']![3]).toMatch(/^\d+\.?\d*\sms$/);
    await page.getByRole('button', { name: 'rate', exact: true }).press('Enter');
    expect((await tableIn(page))['slow-link']![3]).toMatch(/^\d+\.?\d*\sMB\/s$/);
    await page.locator('#size-rows').getByRole('link', { name: 'tiny' }).press('Enter');
    await until(async () => (await page.locator('#panel-name').innerText()) === 'tiny');
    expect(page.url()).toContain('measure=rate');
  });

  it('has in the panel of an agent its classes with their distributions, a plot and the line of its peers', async () => {
    startFleet();
    const { page } = await openPage(url, {}, '#agent=slow-link');
    const line = page.locator('#panel-sizes-line');
    await until(async () => /size ÷ .*; peers: .*size ÷ /.test((await line.textContent()) ?? ''));
    const rows = page.locator('#panel-size-rows tr');
    expect(await rows.locator('th').allInnerTexts()).toEqual(['4\u00a0KiB', '64\u00a0KiB', '1\u00a0MiB', '8\u00a0MiB']);
    expect(await rows.last().locator('td').last().innerText()).toMatch(/^▲ ×\d/);
    expect(await rows.last().locator('rect:not(.heat-none)').count()).toBeGreaterThan(0);
    expect(await page.locator('#panel-sizes-plot circle').count()).toBe(4);
    expect(await page.locator('#panel-sizes-plot').getAttribute('aria-label')).toContain('size ÷');
    await page.getByRole('button', { name: 'since start' }).press('Enter');
    expect(await rows.count()).toBe(4);
    expect(await violations(page)).toEqual([]);
  });

  it('follows the search of the page, and says that cells rest on few transfers', async () => {
    startAgent('rare', '--sizes', SIZES, '--transfers', '8');
    startAgent('well', '--sizes', SIZES);
    const { page } = await openPage(url);
    const cell = page.locator('#size-rows tr', { hasText: 'rare' }).locator('td').first();
    await until(async () => (await cell.getAttribute('title'))?.includes('fewer than 20'));
    expect(await cell.getAttribute('class')).toBe('class few');
    expect(await cell.textContent()).toMatch(/\d+.transfers?, fewer than 20$/);
    await page.keyboard.press('/');
    await page.keyboard.type('wel');
    await until(async () => Object.keys(await tableIn(page)).join() === 'well');
    await page.keyboard.type('x');
    await page.locator('#size-quiet', { hasText: 'No agent matches.' }).waitFor();
  });

  it('shows twelve of many agents, and all on demand', async () => {
    startTransferSource(['--dir', dir, '--agents', '15', '--seconds', '0', '--rate', '20', '--sizes', '4k:1']);
    const { page } = await openPage(url, {}, '#sort=name');
    const rows = page.locator('#size-rows tr');
    await until(async () => (await rows.count()) === 12);
    await page.getByRole('button', { name: /^Show all 15/ }).press('Enter');
    expect(await rows.count()).toBe(15);
    await page.getByRole('button', { name: /^Show all 15/ }).press('Enter');
    expect(await rows.count()).toBe(12);
  });

  it('is hidden while no agent has transferred, and asks only every five seconds', async () => {
    startTransferSource(['--dir', dir, '--seconds', '0', '--transfers', '0', '--rate', '1', '--sizes', '4k:1']);
    const { page } = await openPage(url);
    const asked: number[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/sizes')) asked.push(performance.now());
    });
    await until(() => asked.length >= 2);
    expect(asked[1]! - asked[0]!).toBeGreaterThan(4000);
  });

  it('is hidden beside a serve that has no time by size, whose other figures go on', async () => {
    startAgent('well', '--sizes', SIZES);
    const { page, complaints } = await openPage(url);
    await page.route('**/api/v1/sizes*', (route) => route.fulfill({ status: 404, body: 'Not here.' }));
    await page.reload();
    const response = await page.waitForResponse(/api\/v1\/sizes/);
    expect(response.status()).toBe(404);
    for (let i = 0; i < 3; i++) await page.waitForResponse(/api\/v1\/agents/);
    expect(await page.locator('#time-by-size').isVisible()).toBe(false);
    await page.locator('html[data-state=live]').waitFor();
    expect(complaints.every((text) => text.includes('404'))).toBe(true);
    complaints.length = 0; // the browser reports the status
  });

  it.each([
    ['light', DESKTOP],
    ['dark', DESKTOP],
    ['light', PHONE],
    ['dark', PHONE],
    ['light', { width: 640, height: 450 }], // a desktop at 200 %
  ] as const)('has nothing that axe objects to, and scrolls only inside: %s, %o', async (colorScheme, viewport) => {
    startFleet();
    const { page } = await openPage(url, { colorScheme, viewport });
    await slowLinkIn(page);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    const name = page.locator('#size-rows th').first();
    const { x } = (await name.boundingBox())!;
    await page.locator('#size-scroller').evaluate((scroller: { scrollLeft: number }) => (scroller.scrollLeft = 1e6));
    expect((await name.boundingBox())!.x).toBe(x);
  });
});
