/** Percentiles of the page, top, read and PromQL, beside those of the events themselves. */
import { execFileSync, spawnSync } from 'node:child_process';
import { History } from '../../dist/cli/page/browser/history.js';
import { Command } from './command.mjs';
import { DistributedAgent, FIGURES } from './distributions.mjs';
import { MAIN } from './measure.mjs';
import { explicitFigures, PrometheusServer } from './prometheus.mjs';

/** Largest share of the exact value by which a figure may be wrong. Explicit buckets have none. */
export const LIMITS = { page: 0.05, 'top --dir': 0.05, 'top --url': 0.05, 'read --summary': 0.05, PromQL: 0.1 };

/**
 * Writes the transfers of five agents below the directory and asks everyone.
 *
 * @param prometheus path of the program; undefined to leave it out
 * @returns a row for each figure of each distribution: exact and seen values in microseconds
 */
export async function accuracyIn(directory, { transfers, intervalMs, prometheus }) {
  const agents = DistributedAgent.all(directory, transfers);
  const running = [];
  const started = (command) => (running.push(command), command);
  try {
    agents.forEach((agent) => agent.write());
    const seen = { 'read --summary': agents.map(({ file }) => readFigures(file)) };

    const serve = started(Command.nixlOtel('serve', '--dir', directory, '--port', '0'));
    const [, url] = await serve.until(() => /serves (http:\S+)\/metrics from/.exec(serve.errorText) ?? undefined);
    const page = new Page(url, serve);
    await page.untilDrained(agents, transfers);

    const flags = ['--json', '--interval', String(intervalMs)];
    const tops = {
      'top --dir': started(Command.nixlOtel('top', ...flags, '--dir', directory)),
      'top --url': started(Command.nixlOtel('top', ...flags, '--url', url)),
    };
    for (const top of Object.values(tops)) await top.until(() => linesOf(top).at(-1)?.agents.length === agents.length);
    const scraping = prometheus && started(await PrometheusServer.start(prometheus, url, directory));
    let written = transfers;
    const writeAll = async () => {
      agents.forEach((agent) => agent.write());
      written += transfers;
      await page.untilDrained(agents, written);
    };
    await writeAll();
    seen.page = agents.map(({ name }) => page.figures(name));
    for (const [name, top] of Object.entries(tops)) {
      seen[name] = [];
      for (const agent of agents) seen[name].push(await topFigures(top, agent.name, transfers, writeAll));
    }
    if (scraping) seen.PromQL = await scraping.figures(agents, () => written);
    seen['explicit buckets'] = await explicitFigures(url, agents);
    return agents.flatMap(({ name, exact }, i) =>
      FIGURES.map((figure) => ({
        distribution: name,
        figure,
        exact: exact[figure],
        seen: Object.fromEntries(Object.entries(seen).map(([by, figures]) => [by, figures[i]?.[figure]])),
      })),
    );
  } finally {
    for (const command of running) await command.stop();
    agents.forEach((agent) => agent.close());
  }
}
