/** Four prepared situations: the strip says what is wrong and what to do. */
import { describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { startTransferSource, temporaryDirectory, until } from '../cli/command.js';
import { chromiumPath, openPage, pixelsOf, startServe } from './browser.js';

interface Said {
  readonly tone: string | null;
  readonly word: string;
  readonly sentence: string;
}

async function said(page: Page): Promise<Said> {
  const [tone, word, sentence] = await Promise.all([
    page.locator('#strip').getAttribute('data-tone'),
    page.locator('#word').innerText(),
    page.locator('#sentence').innerText(),
  ]);
  return { tone, word, sentence };
}

async function openServed(dir: string, ...flags: string[]): Promise<Page> {
  return (await openPage((await startServe(dir, ...flags)).url)).page;
}

const tags = (page: Page) => page.locator('#big-throughput .tag');

const small = (page: Page, label: string) => page.locator('#small-figures > div', { hasText: label });

describe.skipIf(chromiumPath() === undefined)('the page says', () => {
  it('that all is well', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--agents', '2', '--seconds', '0', '--rate', '20']);
    const page = await openServed(dir);
    await until(async () => (await said(page)).sentence.includes('2\u00a0agents'));
    expect(await said(page)).toMatchObject({ tone: 'ok', word: 'All well' });
    expect(await tags(page).isVisible()).toBe(false);
    expect(await page.locator('#findings-button').isVisible()).toBe(false);
  });

  it('which ring is full, that its numbers are too low, and what mends it', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '20', '--name', 'well']);
    const full = ['--rate', '0', '--copy-free', '--buffer-size', '16', '--name', 'full'];
    startTransferSource(['--dir', dir, '--seconds', '0', ...full]);
    const page = await openServed(dir);
    await until(async () => (await said(page)).word === 'Data incomplete');
    const { tone, sentence } = await said(page);
    expect(tone).toBe('warn');
    expect(sentence).toMatch(/full-0.*found full.*too low.*NIXL_TELEMETRY_BUFFER_SIZE/s);
    await until(async () => (await tags(page).innerText()) === 'too low: 1\u00a0ring full');
    expect(await page.locator('#big-time .tag').innerText()).toBe('incomplete');
    expect(await small(page, 'Requests').locator('.warn').isVisible()).toBe(true);
    expect(await page.locator('#errors .quiet').getAttribute('data-tone')).toBe('idle');
    const state = page.locator('#agents-body tr', { hasText: 'full-0' }).locator('.state');
    await until(async () => (await state.innerText()) === 'incomplete');
    await until(async () => (await page.locator('#small-figures').innerText()).includes('≥'));
  });

  it('which agent ended while it transferred, and keeps it at the end of the table', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '20', '--name', 'well']);
    const dying = startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '50', '--name', 'dying']);
    const page = await openServed(dir);
    await until(async () => (await page.locator('#agents-body').innerText()).includes('dying-0'));
    await until(async () => /finished\s*[1-9]/.test(await page.locator('#requests .legend').innerText()));
    await dying.stop('SIGKILL');
    await until(async () => (await page.locator('#findings-button').innerText()).includes('1\u00a0note'));
    expect(await said(page)).toMatchObject({ tone: 'ok', word: 'All well' });
    expect(await small(page, 'Memory registered').innerText()).toContain('2\u00a0agents (1 ended)');
    await page.locator('#findings-button').click();
    const note = page.locator('#findings li');
    expect(await note.innerText()).toMatch(/dying-0\s+Ended at \d\d:\d\d:\d\d while it transferred/);
    expect(await note.getAttribute('data-tone')).toBe('info');
    // Rows under the pointer keep their places.
    await page.mouse.move(0, 0);
    const last = page.locator('#agents-body tr:not([aria-hidden])').last();
    await until(async () => /dying-0[^]*ended \d+\ss ago/.test(await last.innerText()));
  });

  it('when an agent restarted, and what its percentiles were', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '50', '--restart-every', '8000']);
    const { page } = await openPage((await startServe(dir)).url, {}, '#agent=agent-0&span=60');
    const mark = [0x68, 0x73, 0x84] as const; // --idle in light
    await until(async () => (await pixelsOf(page.locator('#throughput canvas'), mark)) > 20);
    await until(async () => (await pixelsOf(page.locator('#panel-throughput canvas'), mark)) > 20);
    // The answers of history and agent are of different moments.
    await until(async () => /[1-9]\d*\srestart/.test(await page.locator('#panel-since').innerText()));
    const time = /p50\s*[\d.]+\s[µm]?s\s*p90\s*[\d.]+\s[µm]?s\s*p99\s*[\d.]+\s[µm]?s/;
    await until(async () => time.test(await page.locator('#panel-time .legend').innerText()));
  });

  it('that the receiver is down', async () => {
    const dir = temporaryDirectory();
    startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '20']);
    // Nothing listens on port 9 of this host.
    const flags = [
      '--exporter',
      'prometheus,otlp',
      '--otlp-endpoint',
      'http://127.0.0.1:9',
      '--export-interval',
      '1000',
    ];
    const page = await openServed(dir, ...flags);
    await until(async () => (await said(page)).word === 'Receiver down');
    const { tone, sentence } = await said(page);
    expect(tone).toBe('bad');
    expect(sentence).toContain('Check the receiver');
  });
});
