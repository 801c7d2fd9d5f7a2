/** A real Chromium. An error of a script, a policy or a request fails the test of the page. */
import { pathToFileURL } from 'node:url';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, expect, onTestFinished } from 'vitest';
import { type RunningCommand, start, until } from '../cli/command.js';
import { chromiumPath } from './chromium.mjs';

export { chromiumPath };

let browser: Promise<Browser> | undefined;
afterAll(async () => {
  await (await browser)?.close();
});

// Runs before the end of serve, whose absence would be a complaint.
const contexts: BrowserContext[] = [];
afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 844 };

export interface OpenPage {
  readonly page: Page;
  /** Errors of the browser, and requests of the page to other servers. */
  readonly complaints: string[];
}

/**
 * Opens the page of a serve, at an address if one is given, and waits for its first numbers, or another state. Complaints fail the test at its
 * end, unless the test removes them.
 */
export async function openPage(
  metricsUrl: string,
  options: BrowserContextOptions = {},
  hash = '',
  states: readonly string[] = ['live', 'empty'],
): Promise<OpenPage> {
  const { origin } = new URL(metricsUrl);
  const opened = await newPage((url) => url.origin === origin, options);
  await opened.page.goto(origin + hash);
  await opened.page.locator(states.map((state) => `html[data-state=${state}]`).join()).waitFor();
  return opened;
}

/** Opens a file, which may load nothing. Complaints fail the test, too. */
export async function openFile(file: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const { href } = pathToFileURL(file);
  const opened = await newPage((url) => url.href === href, options);
  await opened.page.goto(href);
  return opened;
}

async function newPage(isOwn: (url: URL) => boolean, options: BrowserContextOptions): Promise<OpenPage> {
  browser ??= chromium.launch({
    executablePath: chromiumPath()!,
    // In containers and as root Chromium has no sandbox. The page has no foreign content.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const context = await (await browser).newContext({ viewport: DESKTOP, colorScheme: 'light', ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!isOwn(new URL(request.url()))) complaints.push(`asked for ${request.url()}`);
  });
  contexts.push(context);
  onTestFinished(() => expect(complaints).toEqual([]));
  return { page, complaints };
}

/** Starts serve on any free port, and returns its address. */
export async function startServe(dir: string, ...flags: string[]): Promise<{ serve: RunningCommand; url: string }> {
  const serve = start(['serve', '--dir', dir, '--port', '0', ...flags]);
  const [, url] = await serve.says(/serves (http:\S+) from/);
  return { serve, url: url! };
}

/** Returns the exact numbers that stand beside labels: of the figures, or of facts in the panel. */
export async function numbersIn(list: Locator): Promise<Record<string, number>> {
  const pairs = await list
    .locator('div:has(> dt)')
    .evaluateAll((all: Pair[]) =>
      all.map((pair): [string, string] => [
        pair.querySelector('dt')!.textContent,
        pair.querySelector('data')?.value ?? '',
      ]),
    );
  const known = pairs.filter(([, value]) => value !== '');
  return Object.fromEntries(known.map(([label, value]): [string, number] => [label, Number(value)]));
}

/** Returns the counts of a table with bars by the label of their row. */
export async function countsIn(table: Locator): Promise<Record<string, number>> {
  const rows = await table
    .locator('tbody tr')
    .evaluateAll((all: Pair[]) =>
      all.map((row): [string, number] => [
        row.querySelector('th')!.textContent,
        Number(row.querySelector('data')!.value),
      ]),
    );
  return Object.fromEntries(rows);
}

/** Returns the names in the rows of the table, from the top. */
export function namesIn(page: Page): Promise<string[]> {
  return page.locator('#agents-body tr:not([aria-hidden]) bdi').allTextContents();
}

/** Waits until the table has a row for each of the names, in any order. */
export async function rowsOf(page: Page, count: number): Promise<string[]> {
  return until(async () => {
    const names = await namesIn(page);
    return names.length === count && names;
  });
}

/** Returns the text of a cell in the row of an agent. */
export function cell(page: Page, agent: string, key: string): Promise<string> {
  return page.locator('#agents-body tr', { hasText: agent }).locator(`[data-key="${key}"]`).innerText();
}

/** Returns the number of pixels that have nearly this colour: red, green, blue. */
export function pixelsOf(canvas: Locator, colour: readonly [number, number, number]): Promise<number> {
  return canvas.evaluate(
    (drawn, wanted) => {
      const { width, height } = drawn as Canvas;
      const { data } = (drawn as Canvas).getContext('2d').getImageData(0, 0, width, height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (wanted.every((part, j) => Math.abs(data[i + j]! - part) < 8)) count++;
      }
      return count;
    },
    [...colour],
  );
}

/** Members of an element that functions in the browser use: these files have no types of the DOM. */
interface Pair {
  querySelector(selector: 'data'): { value: string; textContent: string } | null;
  querySelector(selector: 'dt' | 'th'): { textContent: string } | null;
}

interface Canvas {
  width: number;
  height: number;
  getContext(kind: '2d'): { getImageData(x: number, y: number, w: number, h: number): { data: Uint8ClampedArray } };
}
