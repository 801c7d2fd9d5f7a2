/** A report as a file of HTML, as people open it: without a server, in any theme, on a phone, on paper. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, it } from 'vitest';
import { reportHtml } from '../../src/report/html/report-html.js';
import type { RunReport } from '../../src/report/run-report.js';
import { temporaryDirectory } from '../cli/command.js';
import { runReport } from '../support/run-reports.js';
import type { Transfer } from '../view/sizes/seven-agents.js';
import { violations } from './axe.js';
import { chromiumPath, openFile, PHONE } from './browser.js';

const STEPS = 20;
const EVIL = `</style><img src="http://127.0.0.1:9/x"><script>alert("x")</script>&'`;

function transfers(count: number): Transfer[] {
  const bytes = (i: number): number => 4096 * 16 ** (i % 3);
  return Array.from({ length: count }, (_, i) => ({
    bytes: bytes(i),
    us: Math.round(30 + bytes(i) / 2000) + (i % 7),
    postUs: 2,
  }));
}

function lineOf(bytes: number) {
  const even = (value: number): number[] => Array<number>(STEPS).fill(value);
  return {
    txBytes: even(bytes),
    rxBytes: even(bytes / 2),
    transfers: even(9),
    errors: even(0),
    memoryBytes: even(1e6),
  };
}

function wholeReport(name = 'agent-0'): RunReport {
  const watched = { life: 'dead', line: lineOf(5e6), memoryPeakBytes: 2e6 } as const;
  const agents = [name, 'agent-1'].map((agent) => ({
    agent,
    tx: transfers(300),
    rx: transfers(90),
    registered: [2e6],
    watched,
  }));
  const line = { beginMs: 0, stepMs: 500, steps: STEPS };
  return runReport(agents, { line, notes: ['rings have 65,536 slots', name] });
}

let file = '';
beforeEach(() => (file = path.join(temporaryDirectory(), 'report.html')));

function write(report: RunReport): string {
  writeFileSync(file, reportHtml(report));
  return file;
}

const isWiderThanScreen = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > innerWidth');

describe.skipIf(chromiumPath() === undefined)('a report as HTML', () => {
  it.each([
    ['in light colours', { colorScheme: 'light' }, 'rgb(244, 245, 247)'],
    ['in dark colours', { colorScheme: 'dark' }, 'rgb(10, 12, 16)'],
    ['on a phone', { viewport: PHONE }, 'rgb(244, 245, 247)'],
  ] as const)('has the colours of the page and no violation: %s', async (_, options, ground) => {
    // axe is a script, which the policy of the file forbids.
    const { page } = await openFile(write(wholeReport()), { ...options, bypassCSP: true });
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(ground);
    expect(await isWiderThanScreen(page)).toBe(false);
  });

  it('has the tables of the text, a line over time, and a plot and strips for each agent and direction', async () => {
    const { page } = await openFile(write(wholeReport()));
    const text = await page.locator('main').innerText();
    for (const part of ['agent-0 tx: time by size', 'Registered memory', 'Loss', 'Notes']) expect(text).toContain(part);
    expect(await page.locator('svg.rates path.stroke').count()).toBe(2);
    expect(await page.locator('svg.rates').getAttribute('aria-label')).toMatch(
      /^Moved over time: tx up to 20\.0 MB\/s, rx/,
    );
    expect(await page.locator('svg.plot').count()).toBe(4);
    expect(await page.locator('svg.plot circle').count()).toBe(12);
    expect(await page.locator('td.strip svg').count()).toBe(12);
    expect(await page.locator('.heat5').count()).toBeGreaterThanOrEqual(12);
    expect(await page.locator('dl').innerText()).toMatch(/Lost\s+nothing/);
  });

  it('shows names as they are: nothing in them runs or is loaded', async () => {
    const { page } = await openFile(write(wholeReport(EVIL)));
    expect(await page.locator('main').innerText()).toContain(EVIL);
    expect(await page.locator('img, script').count()).toBe(0);
  });

  it('prints in light colours, without what a screen needs', async () => {
    const { page } = await openFile(write(wholeReport()), { colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(18, 22, 29)');
    expect(await page.evaluate("getComputedStyle(document.querySelector('.scroller')).overflowX")).toBe('visible');
    expect((await page.pdf({ format: 'A4' })).length).toBeGreaterThan(10_000);
  });

  it('says what to check where no agent wrote a ring', async () => {
    const { page } = await openFile(write(runReport([])), { bypassCSP: true });
    expect(await page.locator('main').innerText()).toContain('No NIXL agent wrote a ring.');
    expect(await page.locator('svg').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });
});
