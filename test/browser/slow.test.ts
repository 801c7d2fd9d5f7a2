/** A link that becomes slow, in real time: page, JSON, metrics and incidents say it, until a click takes it as usual. */
import { describe, expect, it } from 'vitest';
import type { AgentsAnswer } from '../../src/view/answers/answer.js';
import type { IncidentsAnswer } from '../../src/view/answers/incidents-answer.js';
import { startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { chromiumPath, openPage, startServe } from './browser.js';

/** Long enough to learn what is usual, on a machine with much else to do, too. */
const SLOW_AFTER_S = 60;

describe.skipIf(chromiumPath() === undefined)('slow transfers', () => {
  it('are found everywhere, and accepted by a click', async () => {
    const dir = temporaryDirectory();
    const pace = ['--rate', '40', '--sizes', '4k:1,64k:1,1M:1', '--bandwidth', '400M', '--reads', '0'];
    const slow = ['--slow-after', String(SLOW_AFTER_S), '--slow-factor', 'bandwidth:20'];
    startTransferSource(['--dir', dir, '--seconds', '0', '--name', 'link', ...pace, ...slow]);
    const { url } = await startServe(dir);
    const { page } = await openPage(url);
    const { origin } = new URL(url);
    const json = async <T>(path: string) => (await (await fetch(`${origin}/api/v1/${path}`)).json()) as T;

    await until(async () => (await page.locator('#word').innerText()) === 'Transfers slow');
    expect(await page.locator('#strip').getAttribute('data-tone')).toBe('warn');
    expect(await page.locator('#sentence').innerText()).toMatch(/link-0.*transfers \(tx\) take.*the bytes/s);
    const { slowness } = await json<AgentsAnswer>('agents');
    expect(slowness).toMatchObject([{ kind: 'slow-transfers', name: 'link-0', direction: 'transmit' }]);
    await until(async () => {
      const [one] = (await json<IncidentsAnswer>('incidents')).incidents;
      return one?.kind === 'slow-transfers' && one.agents.join() === 'link-0';
    });
    await until(async () => {
      const metrics = await (await fetch(url)).text();
      return /^nixl_transfer_slowdown\{.*transmit.*\} [1-9]\d/m.test(metrics);
    });

    await page.locator('#findings-button').click();
    const accept = page.locator('#findings li button', { hasText: 'Take as usual' }).filter({ visible: true });
    await accept.click();
    await until(async () => (await page.locator('#word').innerText()) === 'All well');
    await until(async () => {
      const [one] = (await json<IncidentsAnswer>('incidents')).incidents;
      return one!.kind === 'slow-transfers' && one!.endMs !== undefined;
    });
    expect((await json<AgentsAnswer>('agents')).slowness).toEqual([]);
  });
});
