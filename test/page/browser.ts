/** A real Chromium. An error of a script, a policy or a request fails the test of the page. */
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, expect, onTestFinished } from 'vitest';
import { chromiumPath } from './chromium.js';

export { chromiumPath };

let browser: Promise<Browser> | undefined;
afterAll(async () => {
  await (await browser)?.close();
});

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

export interface OpenPage {
  readonly page: Page;
  /** Errors of the browser, and requests of the page to other servers. */
  readonly complaints: string[];
}

/** Opens the page of a serve and waits for its first numbers. Complaints fail the test at its end, unless the test removes them. */
export async function openPage(metricsUrl: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  browser ??= chromium.launch({
    executablePath: chromiumPath()!,
    // In containers and as root Chromium has no sandbox. The page has no foreign content.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const context = await (await browser).newContext({ viewport: DESKTOP, colorScheme: 'light', ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const { origin } = new URL(metricsUrl);
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) complaints.push(`asked for ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(origin);
  await page.locator('html[data-state=live]').waitFor();
  return { page, complaints };
}

/** Returns the exact number of an element that shows a rounded one. */
export async function exact(number: Locator): Promise<number> {
  return Number(await number.getAttribute('value'));
}

/** Returns the rows of a table by their first cell: exact numbers by the heading of their column. */
export async function numbersIn(table: Locator): Promise<Record<string, Record<string, number>>> {
  const headings = (await table.locator('thead th').allInnerTexts()).map((text) => text.replace(/ [▲▼]$/, '').trim());
  const rows = await table.locator('tbody tr').evaluateAll((lines: Cells[]) =>
    lines.map((line) => ({
      name: (line.querySelector('bdi') ?? line.querySelector('th'))!.textContent,
      values: Array.from(line.querySelectorAll('data'), ({ value }) => Number(value)),
    })),
  );
  return Object.fromEntries(
    rows.map(({ name, values }) => [name, Object.fromEntries(values.map((value, i) => [headings[i + 1]!, value]))]),
  );
}

/** Members of an element that functions in the browser use: these files have no types of the DOM. */
interface Cells {
  querySelector(selector: string): { textContent: string } | null;
  querySelectorAll(selector: string): ArrayLike<{ value: string }>;
}
