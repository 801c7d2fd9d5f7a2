/** A real backend accepts OTLP from a real serve, and its answers equal the totals of the agents. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { scrape, start, temporaryDirectory, valueOf } from '../cli/command.js';
import { PATIENTLY, startVictoriaMetrics } from './backends.js';
import { Agents, ofCumulative, ofDeltas, storedIn, TRANSFERS } from './transfers.js';

async function startServe(directory: string, endpoint: string, temporality: string) {
  const flags = ['--exporter', 'otlp,prometheus', '--port', '0', '--export-interval', '300'];
  const serve = start(['serve', '--dir', directory, ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: temporality,
  });
  const [, page] = await serve.says(/serves (http:\S+)/);
  return { serve, counted: async (agent: string) => valueOf(await scrape(page!), TRANSFERS, `"${agent}"`) };
}

it.each([
  ['cumulative', ofCumulative],
  ['delta', ofDeltas],
])('%s sums come out to the unit, through restarts of serve, of the backend and of agents', async (name, total) => {
  const directory = temporaryDirectory();
  const backend = await startVictoriaMetrics();
  const agents = new Agents(directory);
  let { serve, counted } = await startServe(directory, backend.pushTo, name);
  const steady = await agents.start('--name', 'steady', '--exact-name');
  const stored = async (agent: string) => (await storedIn(backend, total))[`${agent} ${TRANSFERS}`];

  await agents.run('--name', 'early', '--exact-name', '--wire-version', '2');

  // serve pushes its last values when it ends. The agent pauses: the first delta of the next serve begins at the recovered
  // sums, which have the events that the first one drained after its last push.
  await expect.poll(() => counted('steady'), PATIENTLY).toBeGreaterThan(100);
  steady.child.kill('SIGSTOP');
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
  await agents.run('--name', 'meanwhile', '--exact-name');
  ({ serve, counted } = await startServe(directory, backend.pushTo, name));

  // The backend restarts meanwhile. A delta without a receiver is lost: all counted events must have arrived before.
  await expect.poll(() => stored('meanwhile'), PATIENTLY).toBe(agents.transfersOf('meanwhile'));
  await backend.server.stop('SIGTERM');
  await serve.says(/exporter otlp failed/);
  await backend.server.startAgain();
  await serve.says(/exporter otlp works again/);
  steady.child.kill('SIGCONT');
  for (let life = 1; life <= 2; life++) {
    await agents.run('--name', 'again', '--exact-name');
    await expect.poll(() => counted('again'), PATIENTLY).toBe(agents.transfersOf('again'));
  }

  await agents.finish(steady);
  await expect.poll(() => storedIn(backend, total), PATIENTLY).toEqual(agents.written);
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
});

/** Durations from 10 us to 1 s, as many in each decade: 5000 of them fit into a ring at once. */
const DURATIONS = Array.from({ length: 5000 }, (_, i) => Math.round(10 ** (1 + (5 * i) / 5000)));

it.each([
  ['cumulative', 'nixl', 1, 'agent_xfer_time_us_bucket'],
  ['delta', 'otel', 1e6, 'sum_over_time({"nixl.transfer.duration_bucket"}[1h])'],
])('%s exponential histograms of naming %s give the quantiles of the events', async (kind, naming, unit, buckets) => {
  const directory = temporaryDirectory();
  const backend = await startVictoriaMetrics();
  const flags = ['--exporter', 'otlp', '--export-interval', '300', '--naming', naming];
  const serve = start(['serve', '--dir', directory, ...flags], {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: backend.pushTo,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: kind,
    OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram',
  });
  await serve.says(/exports from/);
  const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4, capacity: 8192 });
  for (const value of DURATIONS) writer.push({ type: 6, value: BigInt(value) });
  writer.close();
  await backend.answers(`sum(${buckets})`, DURATIONS.length);
  for (const quantile of [0.01, 0.25, 0.5, 0.9, 0.99]) {
    const exact = DURATIONS[quantile * DURATIONS.length]! / unit;
    const answer = await backend.number(`histogram_quantile(${quantile}, sum by (vmrange) (${buckets}))`);
    expect(Math.abs(answer! / exact - 1), `p${quantile * 100}: ${answer} for ${exact}`).toBeLessThan(0.05);
  }
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
});
