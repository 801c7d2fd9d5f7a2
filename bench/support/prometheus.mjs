/** Percentiles by PromQL: of native histograms in a real Prometheus, and of the explicit buckets of an exposition. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from './command.mjs';
import { freePort } from './free-port.mjs';
import { ROOT } from './measure.mjs';

const SHARES = { p50: 0.5, p90: 0.9, p99: 0.99, max: 1 };
const HISTOGRAM = 'agent_xfer_time_us';

/** Returns the program of test/servers/fetch.mjs, or of the variable PROMETHEUS; undefined without one. */
export function prometheusProgram() {
  const file = process.env.PROMETHEUS ?? path.join(ROOT, 'node_modules/.cache/servers/prometheus');
  return existsSync(file) ? file : undefined;
}

/** Scrapes native histograms. */
export class PrometheusServer {
  #command;
  #address;
  #directory;

  static async start(program, target) {
    const server = new PrometheusServer();
    const directory = (server.#directory = mkdtempSync(path.join(tmpdir(), 'nixl-otel-prometheus-')));
    const listen = `127.0.0.1:${await freePort()}`;
    server.#address = `http://${listen}`;
    const job = { job_name: 'nixl', static_configs: [{ targets: [new URL(target).host] }] };
    const global = { scrape_interval: '1s', scrape_timeout: '1s' };
    const config = path.join(directory, 'prometheus.json');
    writeFileSync(config, JSON.stringify({ global, scrape_configs: [job] })); // JSON is YAML
    server.#command = new Command(program, [
      `--config.file=${config}`,
      `--storage.tsdb.path=${path.join(directory, 'data')}`,
      `--web.listen-address=${listen}`,
      '--enable-feature=native-histograms',
    ]);
    return server;
  }

  /** Waits until the histograms have so many values. */
  async figures(agents, values) {
    const all = [];
    for (const { name } of agents) {
      const histogram = `${HISTOGRAM}{agent_name="${name}"}`;
      await this.#command.until(async () => (await this.#number(`histogram_count(${histogram})`)) === values);
      const figures = {};
      for (const [figure, share] of Object.entries(SHARES)) {
        figures[figure] = await this.#number(`histogram_quantile(${share}, ${histogram})`);
      }
      all.push(figures);
    }
    return all;
  }

  async stop() {
    await this.#command.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Returns undefined while there is none. */
  async #number(query) {
    const address = new URL('/api/v1/query', this.#address);
    address.searchParams.set('query', query);
    const response = await fetch(address).catch(() => undefined);
    if (!response?.ok) return undefined;
    const { data } = await response.json();
    return data.result.length === 0 ? undefined : Number(data.result[0].value[1]);
  }
}

/** Figures by the explicit buckets of the text exposition, computed as histogram_quantile() does. They have no maximum. */
export async function explicitFigures(url, agents) {
  const text = await (await fetch(`${url}/metrics`, { headers: { accept: 'text/plain' } })).text();
  return agents.map(({ name }) => {
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`${HISTOGRAM}_bucket{`) && line.includes(`"${name}"`));
    const buckets = lines.map((line) => [
      Number(/le="(\+Inf|.*?)"/.exec(line)[1].replace('+Inf', 'Infinity')),
      Number(line.split(' ').at(-1)),
    ]);
    return { p50: quantileOf(buckets, 0.5), p90: quantileOf(buckets, 0.9), p99: quantileOf(buckets, 0.99) };
  });
}

/** `buckets`: upper bounds and cumulative counts. */
function quantileOf(buckets, share) {
  const rank = share * buckets.at(-1)[1];
  const i = buckets.findIndex(([, reached]) => reached >= rank);
  const [lower, below] = buckets[i - 1] ?? [0, 0];
  const [upper, reached] = buckets[i];
  return upper === Infinity ? lower : lower + ((upper - lower) * (rank - below)) / (reached - below);
}
