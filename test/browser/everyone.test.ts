/** Accessibility of the page: the rules of axe, a keyboard, themes, and addresses. */
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { violations } from './axe.js';
import { chromiumPath, DESKTOP, namesIn, openPage, PHONE, rowsOf, startServe } from './browser.js';

const LIGHT = 'rgb(244, 245, 247)';
const DARK = 'rgb(10, 12, 16)';

let url = '';
beforeEach(async () => {
  const dir = temporaryDirectory();
  ({ url } = await startServe(dir));
  startTransferSource(['--dir', dir, '--agents', '3', '--seconds', '0', '--errors', '10']);
});

function ground(page: Page): Promise<unknown> {
  return page.evaluate('getComputedStyle(document.body).backgroundColor');
}

const word = (page: Page) => page.locator('#word').innerText();

describe.skipIf(chromiumPath() === undefined)('the page', () => {
  it.each([
    ['light', DESKTOP, LIGHT],
    ['dark', DESKTOP, DARK],
    ['light', PHONE, LIGHT],
    ['dark', PHONE, DARK],
  ] as const)('has nothing that axe objects to, in %s', async (colorScheme, viewport, background) => {
    const { page } = await openPage(url, { colorScheme, viewport });
    await rowsOf(page, 3);
    await until(async () => (await word(page)) === 'Transfers fail');
    expect(await ground(page)).toBe(background);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('link', { name: 'agent-1' }).last().click();
    await page.locator('#panel-errors tbody tr').first().waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('?');
    expect(await page.locator('#help').isVisible()).toBe(true);
    expect(await violations(page)).toEqual([]);
  });

  it('has nothing that axe objects to without agents', async () => {
    const { page } = await openPage((await startServe(temporaryDirectory())).url);
    await page.locator('#none').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('follows the theme of the system until the reader chooses one, which the browser remembers', async () => {
    const { page } = await openPage(url);
    expect(await ground(page)).toBe(LIGHT);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await ground(page)).toBe(DARK);
    await page.keyboard.press('t');
    expect(await ground(page)).toBe(LIGHT);
    expect(await page.locator('#theme').getAttribute('aria-label')).toContain('light');
    await page.reload();
    expect(await ground(page)).toBe(LIGHT);
  });

  it('can be used with a keyboard alone: every control gets the focus, and shows it', async () => {
    // In the usual order a row moves when its agent fails for the first time.
    const { page } = await openPage(url, {}, '#sort=name');
    await rowsOf(page, 3);
    await page.locator('#time-by-size').waitFor();
    const stops: string[] = [];
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      const [tag, name, outline] = await page.evaluate<[string, string, string]>(
        `(({ tagName, id, innerText }, label, style) => [tagName, label ?? (id || innerText), style.outlineStyle])(
          document.activeElement, document.activeElement.getAttribute('aria-label'),
          getComputedStyle(document.activeElement))`,
      );
      if (tag === 'BODY') break; // after the last control
      stops.push(name);
      expect({ name, outline }).toEqual({ name, outline: expect.not.stringMatching('none') as string });
    }
    expect(stops.join('\n')).toMatch(
      /^1 min\n5 min\n10 min\nPause[^]*Top 5\ntx\nrx\n[^]*rate\nsize-scroller\nagent-0\nagent-1\nagent-2\nsearch\nAll[^]*problems-first[^]*agent-0\nagent-1\nagent-2\nmetrics\nhelp-link$/,
    );
  });

  it('moves a cursor through all charts with arrow keys, selects a time and zooms', async () => {
    const { page } = await openPage(url);
    const line = page.locator('#big-throughput path.line');
    await until(async () => ((await line.getAttribute('d')) ?? '').split('L').length > 4);
    await page.keyboard.press('Space'); // so that no new point moves the cursor
    const times = page.locator('#charts .cursor-time:visible');
    expect(await times.count()).toBe(0);
    await page.keyboard.press('ArrowLeft');
    const texts = await times.allInnerTexts();
    // The chart of sizes has no time.
    expect(texts).toHaveLength(7);
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^\d\d:\d\d:\d\d$/);
    await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    expect(page.url()).toMatch(/#from=[\d.]+&to=[\d.]+$/);
    await page.keyboard.press('Escape');
    expect(page.url()).not.toContain('from=');
  });

  it('zooms all charts to a dragged span, and back', async () => {
    const { page } = await openPage(url);
    await until(async () => /finished\s*[1-9]/.test(await page.locator('#requests .legend').innerText()));
    const { x, y, width, height } = (await page.locator('#requests .u-over').boundingBox())!;
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width - 2, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await until(() => /from=[\d.]+&to=[\d.]+/.test(page.url()));
    const [, from, to] = /from=([\d.]+)&to=([\d.]+)/.exec(page.url())!;
    // Half of what the chart shows: at least 30 s, as long as the history is young.
    expect(Number(to) - Number(from)).toBeGreaterThan(14);
    expect(Number(to) - Number(from)).toBeLessThan(155);
    await page.mouse.dblclick(x + width / 2, y + height / 2);
    await until(() => !page.url().includes('from='));
  });

  it('opens and walks through agents by keyboard, and an address opens the same', async () => {
    const { page } = await openPage(url, {}, '#sort=name&span=60&top=5');
    await rowsOf(page, 3);
    const name = () => page.locator('#panel-name').innerText();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await until(async () => (await name()) === 'agent-1');
    await page.keyboard.press('j');
    await until(async () => (await name()) === 'agent-2');
    expect(new URL(page.url()).hash).toBe('#agent=agent-2&span=60&sort=name&top=5');
    await page.reload();
    await until(async () => (await name()) === 'agent-2');
    expect(await page.getByRole('button', { name: '1 min' }).first().getAttribute('aria-pressed')).toBe('true');
    expect(await page.getByRole('button', { name: 'Top 5' }).getAttribute('aria-pressed')).toBe('true');
    await page.keyboard.press('Escape');
    expect(await page.locator('#panel').isVisible()).toBe(false);
    await page.goBack();
    await until(async () => (await name()) === 'agent-2');
  });

  it('says the row of the keyboard cursor to screen readers, and a verdict once', async () => {
    const { page } = await openPage(url, {}, '#sort=name');
    await rowsOf(page, 3);
    const said = () => page.locator('#announced').innerText();
    await until(async () => (await said()).startsWith('Transfers fail: 3\u00a0agents'));
    const verdict = await said();
    const sentence = () => page.locator('#sentence').innerText();
    const before = await sentence();
    await until(async () => (await sentence()) !== before);
    expect(await said()).toBe(verdict);
    await page.keyboard.press('j');
    // On a slow machine an agent may have moved nothing in the last seconds.
    await until(async () => {
      await page.keyboard.press('j');
      if (/^agent-1, 2 of 3: failing, tx [\d.]+\s[kM]?B\/s, rx .*, p99 /.test(await said())) return true;
      await page.keyboard.press('k');
      return false;
    });
  });

  it('sorts by a column and filters by state, and keeps rows in their places under the focus', async () => {
    const { page } = await openPage(url);
    await rowsOf(page, 3);
    const heading = page.getByRole('columnheader', { name: 'tx/s' });
    await heading.getByRole('button').press('Enter');
    expect(await heading.getAttribute('aria-sort')).toBe('descending');
    await page.getByRole('link', { name: 'agent-2' }).last().focus();
    const order = await namesIn(page);
    for (let i = 0; i < 5; i++) {
      await page.waitForResponse(/api\/v1\/agents/);
      expect(await namesIn(page)).toEqual(order);
    }
    await until(async () => (await word(page)) === 'Transfers fail');
    await page.keyboard.press('!');
    expect(page.url()).toContain('state=incomplete%2Cfailing%2Cslow%2Cended');
    await page.getByRole('button', { name: /^Failing/ }).click();
    expect(page.url()).toContain('state=incomplete%2Cslow%2Cended');
    await until(async () => (await namesIn(page)).length === 0);
    expect(await page.locator('#no-match').innerText()).toContain('None of 3');
  });
});
