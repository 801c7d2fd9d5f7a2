/** Updates of the live page in Chromium, with made-up answers of ten minutes: the work of its main thread. */
import { chromium } from 'playwright-core';
import { Command } from './support/command.mjs';
import { inDirectory, plural, quantile, round } from './support/measure.mjs';
import { PageAnswers } from './support/page-answers.mjs';
import { chromiumPath } from '../test/browser/chromium.mjs';

export const title = 'CPU time of the main thread for an update of the live page, once a second, milliseconds';

/** Longest task of the main thread, milliseconds: a longer one delays a key or a click. */
const LIMIT_MS = 50;
/** The first seconds of a trace have work of the tracing itself. */
const START_S = 2;
const VIEWPORT = { width: 1366, height: 900 };

export async function run({ quick }) {
  const executablePath = chromiumPath();
  if (executablePath === undefined) return (console.error('There is no Chromium here: no row.'), []);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
  try {
    return await inDirectory(async (directory) => {
      const serve = Command.nixlOtel('serve', '--dir', directory, '--port', '0');
      const [, origin] = await serve.until(() => /serves (http:\/\/[^/]+)/.exec(serve.errorText) ?? undefined);
      const rows = [];
      for (const agents of quick ? [8] : [8, 64, 300])
        for (const place of quick ? ['charts'] : ['charts', 'agents'])
          rows.push({ agents, place, ...(await measure(browser, origin, agents, place, quick ? 2 : 20)) });
      await serve.stop();
      return rows;
    });
  } finally {
    await browser.close();
  }
}

/** `place`: the part of the page that is in view. */
async function measure(browser, origin, agents, place, updates) {
  const page = await browser.newPage({ viewport: VIEWPORT });
  try {
    const answers = new PageAnswers(agents);
    await page.route('**/api/v1/agents*', (route) => route.fulfill({ json: answers.agents() }));
    await page.route('**/api/v1/history*', (route) => route.fulfill({ json: answers.history(route.request().url()) }));
    await page.goto(origin);
    await page.locator('html[data-state=live]').waitFor();
    if (place === 'agents') await page.locator('#agents').evaluate((element) => element.scrollIntoView());
    await answers.asked(4);
    await browser.startTracing(page);
    await answers.asked(updates + START_S);
    const seconds = tasksOfSeconds(JSON.parse(String(await browser.stopTracing()))).slice(START_S);
    const longest = seconds.map((tasks) => Math.max(...tasks));
    const all = seconds.map((tasks) => tasks.reduce((sum, ms) => sum + ms, 0));
    return { longest: quantile(longest), slowest: quantile(longest, 0.95), all: quantile(all) };
  } finally {
    await page.close();
  }
}

/** Returns the CPU times of the tasks of the page's main thread, for each second. */
function tasksOfSeconds({ traceEvents }) {
  const tasks = traceEvents.filter(({ name, ph }) => name === 'RunTask' && ph === 'X');
  const threads = traceEvents
    .filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain')
    .map(({ pid, tid }) => tasks.filter((task) => task.pid === pid && task.tid === tid));
  const cpuMs = ({ tdur, dur }) => (tdur ?? dur) / 1000;
  const busy = (thread) => thread.reduce((sum, task) => sum + cpuMs(task), 0);
  const main = threads.reduce((most, thread) => (busy(thread) > busy(most) ? thread : most));
  const begin = Math.min(...main.map(({ ts }) => ts));
  const seconds = [];
  for (const task of main) (seconds[Math.floor((task.ts - begin) / 1e6)] ??= []).push(cpuMs(task));
  return Array.from(seconds, (found) => found ?? [0]);
}

export function caseOf({ agents, place }) {
  return `${plural(agents, 'agent')}, ${place} in view`;
}

export function columnsOf({ longest, slowest, all }) {
  return {
    'longest task, p50': round(longest, 1),
    'longest task, p95': round(slowest, 1),
    'all tasks': round(all, 1),
    'of one core, %': round(all / 10, 1),
  };
}

export function violations(rows) {
  const tooSlow = rows.filter(({ longest }) => longest > LIMIT_MS);
  return tooSlow.map((row) => `${caseOf(row)}: ${round(row.longest, 1)} ms, at most ${LIMIT_MS}`);
}
