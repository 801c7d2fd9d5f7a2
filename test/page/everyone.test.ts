/** Accessibility of the page: the rules of axe, a keyboard, and light and dark colours. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { start, startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { chromiumPath, DESKTOP, numbersIn, openPage, PHONE } from './browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let url = '';
beforeEach(async () => {
  const dir = temporaryDirectory();
  const serve = start(['serve', '--dir', dir, '--port', '0']);
  [, url] = (await serve.says(/serves (http:\S+) from/)) as unknown as [string, string];
  startTransferSource(['--dir', dir, '--agents', '3', '--seconds', '0', '--errors', '10']);
});

interface Violation {
  id: string;
  help: string;
  nodes: { html: string }[];
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)');
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join('\n')}`);
}

function colours(page: Page): Promise<unknown> {
  return page.evaluate('getComputedStyle(document.body).backgroundColor');
}

async function rowsThere(page: Page, count: number): Promise<string[]> {
  return until(async () => {
    const names = Object.keys(await numbersIn(page.locator('#agents')));
    return names.length === count && names;
  });
}

describe.skipIf(chromiumPath() === undefined)('the page', () => {
  it.each([
    ['light', DESKTOP, 'rgb(245, 246, 248)'],
    ['dark', PHONE, 'rgb(18, 21, 26)'],
  ] as const)('has nothing that axe objects to, in %s', async (colorScheme, viewport, background) => {
    const { page } = await openPage(url, { colorScheme, viewport });
    await rowsThere(page, 3);
    await page.locator('#errors tbody tr').first().waitFor();
    expect(await colours(page)).toBe(background);
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'agent-1' }).click();
    expect(await violations(page)).toEqual([]);
  });

  it('follows the system when it changes between light and dark', async () => {
    const { page } = await openPage(url);
    expect(await colours(page)).toBe('rgb(245, 246, 248)');
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await colours(page)).toBe('rgb(18, 21, 26)');
  });

  it('can be used with a keyboard alone: every control gets the focus, and shows it', async () => {
    const { page } = await openPage(url);
    await rowsThere(page, 3);
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
      /metrics\nspan\npause\nThroughput over time[^]*Loss over time[^]*tx rate[^]*agent-0\nagent-1\nagent-2\ndistribution-span$/,
    );
  });

  it('moves through a chart with arrow keys, and shows the values there', async () => {
    const { page } = await openPage(url);
    const legend = page.locator('#requests .legend');
    await until(async () => /requests [1-9]/.test(await legend.innerText()));
    await until(async () => Number(await page.evaluate(`document.querySelectorAll('#agents-body tr').length`)) === 3);
    await page.waitForResponse(/api\/v1\/agents/);
    await page.locator('#requests .chart').focus();
    expect(await legend.innerText()).toContain('now');
    await page.keyboard.press('ArrowLeft');
    await until(async () => /\d+:\d\d:\d\d/.test(await legend.innerText()));
    expect(await legend.getAttribute('aria-live')).toBe('polite');
    await page.keyboard.press('Escape');
    await until(async () => (await legend.innerText()).includes('now'));
    expect(await legend.getAttribute('aria-live')).toBeNull();
  });

  it('sorts by a column and narrows down to one agent, by keyboard', async () => {
    const { page } = await openPage(url);
    await rowsThere(page, 3);
    const heading = page.getByRole('columnheader', { name: 'tx bytes' });
    await heading.getByRole('button').press('Enter');
    expect(await heading.getAttribute('aria-sort')).toBe('descending');
    await until(async () => {
      const sums = Object.values(await numbersIn(page.locator('#agents'))).map((row) => row['tx bytes']!);
      return sums[0]! > 0 && sums.every((sum, i) => i === 0 || sum <= sums[i - 1]!);
    });
    await page.getByRole('columnheader', { name: 'agent' }).getByRole('button').press('Space');
    expect(await rowsThere(page, 3)).toEqual(['agent-0', 'agent-1', 'agent-2']);

    // The tx rate changes at once, but rows keep their places while one of them has the focus.
    await page.getByRole('columnheader', { name: 'tx rate' }).getByRole('button').press('Enter');
    await page.getByRole('button', { name: 'agent-2' }).focus();
    const order = await rowsThere(page, 3);
    for (let i = 0; i < 5; i++) {
      await page.waitForResponse(/api\/v1\/agents/);
      expect(await rowsThere(page, 3)).toEqual(order);
    }
    await page.getByRole('button', { name: 'agent-2' }).press('Enter');
    expect(await page.locator('#chosen').innerText()).toContain('Only agent-2 is shown');
    const ofOne = page.locator('#totals data').first();
    await until(async () => {
      const rows = await numbersIn(page.locator('#agents'));
      return Number(await ofOne.getAttribute('value')) === rows['agent-2']!['tx bytes'];
    });
    await page.getByRole('button', { name: 'Show all agents' }).press('Enter');
    expect(await page.locator('#chosen').isVisible()).toBe(false);
  });
});
