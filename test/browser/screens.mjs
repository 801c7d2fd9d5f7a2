// Makes screens of the live page from real rings, for people to look at.
//
//   npm run screens -- [--out FOLDER] [--warm-up SECONDS] [TEXT...]
//
// --out: default ./screens. --warm-up: time before a screen, in which lines become visible and troubles are found; default 20.
// With texts: only screens whose names have one of them.
// Names: SITUATION-AGENTS-WIDTH-THEME.png. A stale page is that of a serve that has been killed.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { chromiumPath } from './chromium.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const SOURCE = path.join(ROOT, 'native/build/transfer-source');
const NAME = 'prefill-llama70b-tp';
const SIZES = [
  { width: 390, height: 844, deviceScaleFactor: 2 },
  { width: 1366, height: 900 },
  { width: 2560, height: 1440 },
];
const SITUATIONS = [
  { name: 'well', agents: 2 },
  { name: 'well', agents: 64 },
  { name: 'well', agents: 300 },
  { name: 'degraded', agents: 64 },
  { name: 'stale', agents: 64 },
  { name: 'empty', agents: 0 },
];
const STALE_MS = 6_000;
/** For a machine that has much else to do. */
const PATIENCE_MS = 120_000;

const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: 'screens' }, 'warm-up': { type: 'string', default: '20' } },
  allowPositionals: true,
});
const WARM_UP_MS = 1000 * Number(values['warm-up']);
/** In the degraded fleet, as shares of the time before the screen: the restart, the end and the troubles of agents. */
const RESTART_AT = 0.55;
const END_AT = 0.8;
const TROUBLE_AT = 0.65;

function run(program, args) {
  return spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Starts agents, and others with troubles. Returns their processes, also those that start later. */
function startAgents(dir, { name, agents }) {
  if (agents === 0) return [];
  const rate = Math.max(2, Math.round(3000 / agents));
  const always = ['--dir', dir, '--seconds', '0', '--sizes', '4k:20,64k:20,256k:30,1M:30'];
  const children = [run(SOURCE, [...always, '--agents', String(agents), '--rate', String(rate), '--name', NAME])];
  if (name !== 'degraded') return children;
  const one = (name) => ['--exact-name', '--name', name];
  const start = (...flags) => children.push(run(SOURCE, [...always, ...flags]));
  const restarting = ['--restart-every', String(WARM_UP_MS * RESTART_AT)];
  start('--rate', '20', ...one('decode-llama70b-tp7'), ...restarting);
  start('--rate', '20', ...one('decode-llama70b-tp11'));
  const dying = children.at(-1);
  setTimeout(() => dying.kill('SIGKILL'), WARM_UP_MS * END_AT);
  setTimeout(() => {
    start('--rate', '0', '--copy-free', '--buffer-size', '16', ...one('decode-llama70b-tp5'));
    start('--rate', '20', '--errors', '20', '--agents', '2', '--name', 'decode-llama70b-pp');
  }, WARM_UP_MS * TROUBLE_AT);
  return children;
}

async function startServe(dir) {
  const serve = run(process.execPath, [path.join(ROOT, 'dist/cli/main.js'), 'serve', '--dir', dir, '--port', '0']);
  for await (const line of createInterface(serve.stderr)) {
    const [, origin] = /serves (http:\/\/[^/]+)/.exec(line) ?? [];
    if (origin !== undefined) return { serve, origin };
  }
  throw new Error('serve ended without an address');
}

async function screensOf(browser, situation, wanted) {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'nixl-otel-screens-'));
  const children = startAgents(dir, situation);
  const { serve, origin } = await startServe(dir);
  const pages = [];
  try {
    for (const { file, colorScheme, size } of wanted) {
      const { deviceScaleFactor = 1, ...viewport } = size;
      const context = await browser.newContext({ viewport, deviceScaleFactor, colorScheme, timezoneId: 'UTC' });
      const page = await context.newPage();
      await page.goto(origin, { timeout: PATIENCE_MS });
      pages.push({ file, page });
    }
    if (situation.agents > 0) await pause(WARM_UP_MS);
    if (situation.name === 'stale') serve.kill('SIGKILL');
    if (situation.name === 'stale') await pause(STALE_MS);
    for (const { file, page } of pages) {
      await page.locator('html:not([data-state=loading])').waitFor({ timeout: PATIENCE_MS });
      await page.screenshot({ path: path.join(values.out, file) });
      console.log(file);
    }
  } finally {
    for (const child of [serve, ...children]) child.kill('SIGKILL');
    await Promise.all(pages.map(({ page }) => page.context().close()));
    rmSync(dir, { recursive: true, force: true });
  }
}

mkdirSync(values.out, { recursive: true });
const browser = await chromium.launch({
  executablePath: chromiumPath(),
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
try {
  for (const situation of SITUATIONS) {
    const all = SIZES.flatMap((size) =>
      ['light', 'dark'].map((colorScheme) => ({
        file: `${situation.name}-${situation.agents}-${size.width}-${colorScheme}.png`,
        colorScheme,
        size,
      })),
    );
    const wanted = all.filter(
      ({ file }) => positionals.length === 0 || positionals.some((text) => file.includes(text)),
    );
    if (wanted.length > 0) await screensOf(browser, situation, wanted);
  }
} finally {
  await browser.close();
}
