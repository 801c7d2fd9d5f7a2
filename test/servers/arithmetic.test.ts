/** A real Prometheus scrapes a real serve and evaluates arithmetic between NIXL's series. */
import { expect, it } from 'vitest';
import { start, startTransferSource, temporaryDirectory } from '../cli/command.js';
import { type Backend, PATIENTLY, startPrometheus } from './backends.js';

const EXPRESSIONS = [
  'rate(agent_xfer_time_total[1m]) / rate(agent_tx_requests_num_total[1m])',
  'agent_tx_bytes_total / agent_xfer_time_total',
  'agent_errors_total / ignoring (status) group_left agent_tx_requests_num_total',
  'agent_telemetry_events_dropped_total / agent_tx_requests_num_total',
  'agent_tx_last_bytes / agent_xfer_time',
];
/** NIXL's series joined with those of this package. */
const JOINS = [
  'agent_tx_bytes_total * on (hostname, agent_name) group_left () nixl_agent_up',
  'rate(agent_tx_bytes_total[1m]) / on (hostname, agent_name) nixl_ring_utilization',
];

async function serveAndScrape(...flags: string[]): Promise<Backend> {
  const dir = temporaryDirectory();
  const serve = start(['serve', '--dir', dir, '--port', '0', ...flags]);
  const [, url] = await serve.says(/serves (http:\S+)/);
  startTransferSource(['--dir', dir, '--seconds', '0', '--rate', '200', '--errors', '20', '--agents', '2']);
  return startPrometheus(new URL(url!).host);
}

/** Returns the expressions that do not have a finite number for both agents. */
async function unanswered(prometheus: Backend, expressions: readonly string[]): Promise<string[]> {
  const empty: string[] = [];
  for (const expression of expressions) {
    const series = await prometheus.query(expression);
    const answered = new Set(
      series.filter(({ values }) => values.some(Number.isFinite)).map(({ metric }) => metric['agent_name']),
    );
    if (answered.size < 2) empty.push(expression);
  }
  return empty;
}

it('divides one series of NIXL by another', async () => {
  const prometheus = await serveAndScrape();
  await expect.poll(() => unanswered(prometheus, [...EXPRESSIONS, ...JOINS]), PATIENTLY).toEqual([]);
  const statuses = async () => {
    const series = await prometheus.query(
      'count by (agent_name) (agent_errors_total / ignoring (status) group_left agent_tx_requests_num_total)',
    );
    return series.map(({ values }) => values);
  };
  await expect.poll(statuses, PATIENTLY).toEqual([[12], [12]]);
});

it('does so with the labels of prometheus_mp, and joins them with the series of this package', async () => {
  const prometheus = await serveAndScrape('--nixl-labels', 'prometheus_mp');
  await expect.poll(() => unanswered(prometheus, [...EXPRESSIONS, ...JOINS]), PATIENTLY).toEqual([]);
});
