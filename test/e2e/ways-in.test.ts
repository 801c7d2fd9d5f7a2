/** All ways into a service show the same series, and each transfer of agents under load is in every histogram. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { RunningCommand, until } from '../cli/command.js';
import { dist } from '../support/child.js';
import { allDrained, runTransferSource, temporaryDirectory } from '../support/live.js';
import { type Sample, samplesOf } from '../support/page.js';

const SERVICE = new URL('../support/way-in.mjs', import.meta.url).pathname;
const REGISTER = new URL(dist('register.js')).pathname;

/** Ways into a service. The first one is the reference for the others. */
const WAYS = ['NixlMetricProducer', 'metricProducer()', 'NixlInstrumentation', '/register'];
const AGENTS = 4;
const TRANSFERS = 1500;
/** Flags for a load of one second. All of it fits into a queue, however late a flush or a drain is. */
const QUEUES = ['--staging', 0, '--buffer-size', 65536];
const LOAD = ['--agents', AGENTS, '--rate', 1500, '--transfers', TRANSFERS, '--copy-free', ...QUEUES];

interface Seen {
  samples: Sample[];
  transfers: number;
  stderr: string;
}

async function service(way: string, blockedMs: number): Promise<Seen> {
  const directory = temporaryDirectory();
  const imports = way === '/register' ? ['--import', REGISTER] : [];
  const program = [...imports, SERVICE, way, directory, String(blockedMs), dist('index.js')];
  const config = path.join(temporaryDirectory(), 'config.yaml');
  writeFileSync(config, `series: full`);
  const env = { NIXL_TELEMETRY_DIR: directory, NIXL_OTEL_CONFIG: config, OTEL_LOG_LEVEL: '' };
  const running = new RunningCommand(process.execPath, program, env);
  const [, port] = await running.says(/port (\d+)/);
  const scrape = async (): Promise<Sample[]> => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`);
    return samplesOf(await response.text());
  };
  // A producer must have joined before agents start: /register finds the provider only after some time.
  await until(async () => (await scrape()).some(({ name }) => name === 'nixl_collector_ticks_total'));
  const { totals } = await runTransferSource(['--dir', directory, ...LOAD.map(String)]);
  expect(totals).toMatchObject({ refused: 0, wiped: 0 });
  const transfers = totals.transfersTx + totals.transfersRx;
  await allDrained(directory); // the agents flush before they end
  const samples = await scrape();
  running.child.kill('SIGTERM');
  await running.ended;
  return { samples, transfers, stderr: running.stderr };
}

/** Name and labels of each series. */
function seriesOf(samples: readonly Sample[]): string[] {
  return samples
    .map(({ name, labels }) => `${name}${JSON.stringify(Object.entries(labels).sort())}`)
    .filter((series) => !series.startsWith('target_info'))
    .sort();
}

function sum(samples: readonly Sample[], name: string): number {
  return samples.filter((sample) => sample.name === name).reduce((all, { value }) => all + value, 0);
}

test('each way in counts every transfer, also while the event loop is blocked for half of the time', async () => {
  const seen = new Map(await Promise.all(WAYS.map(async (way) => [way, await service(way, 50)] as const)));
  for (const [way, { samples, transfers, stderr }] of seen) {
    const counts = [
      'agent_xfer_time_us_count',
      'agent_xfer_post_time_us_count',
      'nixl_transfer_size_count',
      'nixl_transfer_directed_duration_count',
    ].map((name) => sum(samples, name));
    const requests = ['agent_tx_requests_num_total', 'agent_rx_requests_num_total'].map((name) => sum(samples, name));
    expect({ way, transfers, counts, requests: requests[0]! + requests[1]!, stderr }).toEqual({
      way,
      transfers: AGENTS * TRANSFERS,
      counts: counts.map(() => transfers),
      requests: transfers,
      stderr: '',
    });
  }
  // The space of directories is there once the collector has looked at it. The engine of an agent has more labels once its process
  // is seen, and instruments lack it.
  const isCompared = ({ name }: Sample): boolean => !/^nixl_(collector_space|agent_info)/.test(name);
  const all = [...seen.values()].map(({ samples }) => seriesOf(samples.filter(isCompared)));
  const [expected] = all;
  expect(expected!.length).toBeGreaterThan(500);
  for (const series of all) {
    expect(series.filter((one, i) => series.indexOf(one) !== i)).toEqual([]);
    expect(series.filter((one) => !expected!.includes(one))).toEqual([]);
    expect(expected!.filter((one) => !series.includes(one))).toEqual([]);
  }
});
