/** Percentiles of the page, top, read and PromQL, beside those of the events themselves. */
import { spawnSync } from 'node:child_process';
import { timeFigure } from '../../dist/ground/figures/figure.js';
import { Command } from './command.mjs';
import { DistributedAgent, FIGURES } from './distributions.mjs';
import { MAIN } from './measure.mjs';
import { explicitFigures, PrometheusServer } from './prometheus.mjs';

/** Largest share of the exact value by which a figure may be wrong. Explicit buckets have none. */
export const LIMITS = { page: 0.05, 'top --dir': 0.05, 'top --url': 0.05, 'read --summary': 0.05, PromQL: 0.1 };

/**
 * Writes the transfers of five agents below the directory, and asks page, top, read and PromQL.
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
    const read = agents.map(({ file }) => readFigures(file)); // while the rings have no consumer

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
    const load = new Load(agents, transfers, page);
    await load.write();
    const seen = { page: agents.map(({ name }) => page.figures(name)) };
    for (const [by, top] of Object.entries(tops)) {
      seen[by] = [];
      for (const { name } of agents) seen[by].push(await topFigures(top, name, load));
    }
    seen['read --summary'] = read;
    if (scraping) seen.PromQL = await scraping.figures(agents, transfers + load.written);
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

/** The same transfers of all agents, written again and again. */
class Load {
  /** Transfers of each agent in one write(). */
  transfers;
  /** Transfers of each agent in all calls of write(). */
  written = 0;
  #agents;
  #page;

  /** The agents have written once before. */
  constructor(agents, transfers, page) {
    this.#agents = agents;
    this.transfers = transfers;
    this.#page = page;
  }

  /** Writes all transfers, and waits until serve has counted them. */
  async write() {
    this.#agents.forEach((agent) => agent.write());
    this.written += this.transfers;
    await this.#page.untilDrained(this.#agents, this.transfers + this.written);
  }
}

/** Texts about figures beyond their limits. */
export function violations(rows) {
  return rows.flatMap(({ distribution, figure, exact, seen }) =>
    Object.entries(LIMITS).flatMap(([by, limit]) => {
      if (!(by in seen)) return [];
      const error = errorOf(seen[by], exact);
      if (error !== undefined && Math.abs(error) <= limit) return [];
      return [`${figure} of ${distribution} is ${seen[by]} us for ${by}, but exactly ${exact} us`];
    }),
  );
}

/** Share of the exact value; undefined for an unknown value. */
export function errorOf(value, exact) {
  return typeof value === 'number' ? (value - exact) / exact : undefined;
}

/** The figures in the table that `read --summary` prints. */
function readFigures(file) {
  const args = [MAIN, 'read', '--summary', '--event', 'agent_xfer_time', file];
  const { stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  const row = stderr.split('\n').find((line) => line.startsWith('agent_xfer_time '));
  if (row === undefined) throw new Error(`read printed no times of ${file}: ${stderr}`);
  const [, , , ...texts] = row.split(/ {2,}/);
  return Object.fromEntries(FIGURES.map((figure, i) => [figure, microseconds(texts[i])]));
}

const UNITS_US = { µs: 1, ms: 1e3, s: 1e6 };

function microseconds(text) {
  const [, number, unit] = /^([\d.,]+) (µs|ms|s)$/.exec(text);
  return Number(number.replaceAll(',', '')) * UNITS_US[unit];
}

/** Figures of the live page, in its own format from the address that it asks. */
class Page {
  #address;
  #serve;
  #answer;

  constructor(url, serve) {
    this.#address = `${url}/api/v1/agents`;
    this.#serve = serve;
  }

  /** Waits until serve has counted so many transfers of each agent. Agents that it has not yet found have none. */
  async untilDrained(agents, transfers) {
    this.#answer = await this.#serve.until(async () => {
      const found = await (await fetch(this.#address)).json();
      return agents.every(({ name }) => dataOf(found, name)?.txRequests === transfers) && found;
    });
  }

  /** Returns the figures that the page shows of the last seconds. */
  figures(name) {
    const { recentTransferTimeUs: recent } = dataOf(this.#answer, name);
    return Object.fromEntries(FIGURES.map((figure) => [figure, shownMicroseconds(recent[figure])]));
  }
}

/** Returns the number that the page shows, in its unit and digits. */
function shownMicroseconds(time) {
  const { value, unit } = timeFigure(time);
  return Number(value.replaceAll(',', '')) * UNITS_US[unit];
}

function dataOf({ agents }, name) {
  return agents.find((one) => one.agent === name);
}

function linesOf(top) {
  return top.lines.map((line) => JSON.parse(line));
}

/** Figures of a line that has all transfers of one write(). If two lines share them, they are written again. */
async function topFigures(top, name, load) {
  const requestsIn = (line) => line?.totals.requests ?? NaN;
  for (;;) {
    const lines = await top.until(() => {
      const found = linesOf(top).flatMap(({ agents }) => agents.filter(({ agent }) => agent === name));
      return requestsIn(found.at(-1)) - requestsIn(found[0]) === load.written && found;
    });
    const whole = lines.find((line, i) => requestsIn(line) - requestsIn(lines[i - 1]) === load.transfers);
    if (whole !== undefined) return whole.transferTimeUs;
    await load.write();
  }
}
