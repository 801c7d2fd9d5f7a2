/** Share of the transfers in the histograms of a service, for each way to add NIXL metrics to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { inDirectory, ROOT, round, sleep } from './support/measure.mjs';

export const title =
  '4 agents; requests per second of all of them together; the event loop of the service is blocked for half of the time';

const WAYS = ['NixlMetricProducer', 'metricProducer()', 'NixlInstrumentation', '/register', 'instruments of the API'];
const AGENTS = 4;
const BLOCKED_MS = 50;
const SERVICE = path.join(ROOT, 'test/support/way-in.mjs');
const [PACKAGE, REGISTER] = ['index.js', 'register.js'].map((file) => path.join(ROOT, 'dist', file));
const TRANSFER_SOURCE = path.join(ROOT, 'native/build/transfer-source');

export async function run({ quick }) {
  const [rates, seconds] = quick ? [[100], 0.5] : [[50, 100, 200, 400, 1500, 10_000], 5];
  const rows = [];
  for (const way of WAYS) {
    const shares = {};
    let series = 0;
    for (const rate of rates) {
      const found = await inDirectory((directory) => measured(way, directory, rate, rate * seconds));
      shares[AGENTS * rate] = found.share;
      series = found.series;
    }
    rows.push({ way, series, shares });
  }
  return rows;
}

async function measured(way, directory, rate, transfers) {
  const imports = way === '/register' ? ['--import', REGISTER] : [];
  const service = spawn(process.execPath, [...imports, SERVICE, way, directory, String(BLOCKED_MS), PACKAGE], {
    cwd: ROOT,
    env: { ...process.env, NIXL_TELEMETRY_DIR: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(service.stdout, 'data');
    const url = `http://127.0.0.1:${/port (\d+)/.exec(line)[1]}/metrics`;
    const scrape = async () => samplesIn(await (await fetch(url)).text());
    while (!(await scrape()).some(({ name }) => name === 'nixl_collector_ticks_total')) await sleep(20);
    const flags = { dir: directory, agents: AGENTS, rate, transfers, staging: 0, 'buffer-size': 65_536 };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const load = spawn(TRANSFER_SOURCE, [...args, '--copy-free'], { stdio: ['ignore', 'ignore', 'inherit'] });
    await once(load, 'close');
    await sleep(1000); // for queued events
    const samples = await scrape();
    const sum = (name) => samples.reduce((all, one) => (one.name === name ? all + one.value : all), 0);
    const requests = sum('agent_tx_requests_num_total') + sum('agent_rx_requests_num_total');
    return { series: samples.length, share: sum('agent_xfer_time_us_count') / requests };
  } finally {
    service.kill('SIGKILL');
  }
}

/** Name and value of each series of an exposition. */
function samplesIn(page) {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => ({ name: /^\w+/.exec(line)[0], value: Number(line.slice(line.lastIndexOf(' '))) }));
}

export function caseOf({ way }) {
  return way;
}

export function columnsOf({ series, shares }) {
  const columns = Object.entries(shares).map(([rate, share]) => [`${rate}/s`, `${round(100 * share, 1)} %`]);
  return { 'series of 4 agents': series, ...Object.fromEntries(columns) };
}
