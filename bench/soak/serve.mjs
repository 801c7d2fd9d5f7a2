// The process under test, seen from outside: its metrics, its memory, its descriptors.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const SCRAPE_LIMIT_MS = 20_000;

export class Serve {
  /** Events by agent, from the last exposition with the agent: it omits dead agents later. */
  read = new Map();
  /** Agents with numbers marked as suspect. */
  suspects = new Set();
  /** Agents with fewer events than on an earlier exposition. */
  decreased = new Set();
  /** Sums of the last exposition, by metric. */
  page = new Map();
  slowestScrapeMs = 0;
  #child;
  #url;
  #ended;

  async start(directory, otlpUrl) {
    const exporters = ['prometheus', 'otlp', here('exporters/faulty.mjs'), here('exporters/blocking.mjs')].join(',');
    const flags = [
      '--exporter',
      exporters,
      '--otlp-endpoint',
      otlpUrl,
      '--export-interval',
      1000,
      '--export-timeout',
      900,
    ];
    const args = [
      here('../../dist/cli/main.js'),
      'serve',
      '--dir',
      directory,
      '--port',
      0,
      '--dead-ttl',
      15_000,
      ...flags,
    ];
    this.#child = spawn(process.execPath, args.map(String), { stdio: ['ignore', 'ignore', 'pipe'] });
    this.#ended = new Promise((resolve) => this.#child.once('close', (code, signal) => resolve(code ?? signal)));
    this.#url = await new Promise((resolve, reject) => {
      let text = '';
      this.#child.stderr.on('data', (part) => {
        text += part;
        const found = /http:\S+\/metrics/.exec(text);
        if (found !== null) resolve(found[0]);
      });
      void this.#ended.then((end) => reject(new Error(`serve ended (${end}): ${text}`)));
    });
  }

  async scrape() {
    const begun = performance.now();
    const answer = await fetch(this.#url, { signal: globalThis.AbortSignal.timeout(SCRAPE_LIMIT_MS) });
    const text = await answer.text();
    this.slowestScrapeMs = Math.max(this.slowestScrapeMs, performance.now() - begun);
    const events = new Map();
    this.page = new Map();
    for (const line of text.split('\n')) {
      const found = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line);
      if (found === null) continue;
      const [, name, labels = '', value] = found;
      this.page.set(name, (this.page.get(name) ?? 0) + Number(value));
      const agent = /agent_name="([^"]*)"/.exec(labels)?.[1];
      if (name === 'nixl_ring_suspect' && value !== '0') this.suspects.add(agent);
      if (name !== 'nixl_events_total') continue;
      events.set(agent, (events.get(agent) ?? 0) + Number(value));
    }
    for (const [agent, count] of events) {
      if (count < (this.read.get(agent) ?? 0)) this.decreased.add(agent);
      this.read.set(agent, count);
    }
  }

  get readInAll() {
    return [...this.read.values()].reduce((sum, count) => sum + count, 0);
  }

  residentMiB() {
    const kib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))[1]);
    return kib / 1024;
  }

  descriptors() {
    return readdirSync(`/proc/${this.#child.pid}/fd`).length;
  }

  kill() {
    this.#child.kill('SIGKILL');
    return this.#ended;
  }

  /** Ends it. @returns its exit code. */
  stop() {
    this.#child?.kill('SIGTERM');
    return this.#ended;
  }
}
