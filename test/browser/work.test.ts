/** Work of an update, in changes of the document: it does not grow with the agents that are out of view. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { chromiumPath, openPage, startServe } from './browser.js';

/** Changes of texts, attributes and children. Each row in view has some fifteen. */
const MOST_CHANGES = 700;
const UPDATES = 8;

async function openFleet(agents: number): Promise<Page> {
  const dir = temporaryDirectory();
  const flags = ['--agents', String(agents), '--rate', String(Math.ceil(600 / agents)), '--copy-free'];
  startTransferSource(['--dir', dir, '--seconds', '0', '--sizes', '4k:1,64k:1', ...flags]);
  const { page } = await openPage((await startServe(dir)).url);
  await until(async () => new RegExp(`All\\s*${agents}`).test(await page.locator('#chips').innerText()));
  await until(async () => /finished\s*[1-9]/.test(await page.locator('#requests .legend').innerText()));
  return page;
}

/** Returns the number of changes in each of some updates. An update begins with the clock; plots follow in later tasks. */
function changesOf(page: Page): Promise<number[]> {
  return page.evaluate<number[]>(`new Promise((resolve) => {
    const counts = [];
    const clock = document.getElementById('clock');
    const observer = new MutationObserver((changes) => {
      if (changes.some(({ target }) => clock.contains(target))) counts.push(0);
      if (counts.length > 0) counts[counts.length - 1] += changes.length;
      if (counts.length <= ${UPDATES}) return;
      observer.disconnect();
      resolve(counts.slice(0, -1));
    });
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    observer.observe(document.body, all);
  })`);
}

describe.skipIf(chromiumPath() === undefined)('an update of the page', () => {
  it('changes only what is seen of 300 agents', async () => {
    const page = await openFleet(300);
    await page.locator('#agents').scrollIntoViewIfNeeded();
    const counts = await changesOf(page);
    expect(Math.max(...counts)).toBeLessThanOrEqual(MOST_CHANGES);
    expect(Math.max(...counts)).toBeGreaterThan(50);
  });
});
