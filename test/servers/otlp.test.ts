/** A real backend accepts OTLP from a real serve, and its answers equal the totals of the agents. */
import path from 'node:path';
import { expect, it } from 'vitest';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { start, temporaryDirectory } from '../cli/command.js';
import { startVictoriaMetrics } from './backends.js';
import { expectExactSums, TEMPORALITIES } from './otlp-sums.js';

it.each(TEMPORALITIES)(
  '%s sums come out to the unit, through restarts of serve, of the backend and of agents',
  async (temporality, total) => expectExactSums(await startVictoriaMetrics(), temporality, total),
);

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
