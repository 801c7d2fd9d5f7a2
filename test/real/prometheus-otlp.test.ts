/** A real Prometheus 3 accepts OTLP from a real serve: sums, names and quantiles. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/rings.js';
import { TransferEvent } from '../../src/ground/tally.js';
import { start, temporaryDirectory } from '../cli/command.js';
import { expectOwnNames, NAMES } from '../servers/otlp-names.js';
import { expectExactSums, TEMPORALITIES } from '../servers/otlp-sums.js';
import { DISTRIBUTIONS, durationsOf, exactQuantile } from '../support/durations.js';
import { startOtlpPrometheus } from './prometheus.js';
import { providePrometheus } from './tools.js';

const STRATEGIES = { 'as sent': 'NoTranslation', translated: 'UnderscoreEscapingWithSuffixes' };
const COUNT = 20_000;
const QUANTILES = [0.01, 0.5, 0.9, 0.99, 0.999];
/** Width of a bucket. An export has at most 160 of them: in a wide distribution a power of two has eight. */
const BUCKET = 2 ** (1 / 8);

describe.skipIf(!(await providePrometheus()))('a Prometheus that gets OTLP', () => {
  it.each(TEMPORALITIES)(
    'has %s sums to the unit, through restarts of serve, of itself and of agents',
    async (temporality, total) => expectExactSums(await startOtlpPrometheus(), temporality, total),
  );

  it.each(NAMES)('has every metric of naming %s under its own name, %s', async (naming, form) => {
    await expectOwnNames(await startOtlpPrometheus({ translation_strategy: STRATEGIES[form] }), naming, form);
  });

  it('has the quantiles of exponential histograms, in one series of each agent', async () => {
    const directory = temporaryDirectory();
    for (const name of Object.keys(DISTRIBUTIONS)) {
      const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 2 ** 15 });
      for (const value of durationsOf(name, COUNT)) writer.push({ type: TransferEvent.XFER_TIME, value });
      writer.close();
    }
    const prometheus = await startOtlpPrometheus();
    const flags = ['--exporter', 'otlp', '--export-interval', '300', '--histograms', 'exponential'];
    start(['serve', '--dir', directory, ...flags], { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: prometheus.pushTo });
    const durations = 'agent_xfer_time_us';
    await prometheus.answers(`sum(histogram_count(${durations}))`, COUNT * Object.keys(DISTRIBUTIONS).length);
    expect(await prometheus.number(`count({__name__=~"${durations}_.+"})`)).toBeUndefined();
    for (const quantile of QUANTILES) {
      for (const name of Object.keys(DISTRIBUTIONS)) {
        const answer = await prometheus.number(`histogram_quantile(${quantile}, ${durations}{agent_name="${name}"})`);
        const ratio = answer! / exactQuantile(durationsOf(name, COUNT), quantile);
        expect(ratio, `${quantile} of ${name}`).toBeGreaterThan(1 / BUCKET);
        expect(ratio, `${quantile} of ${name}`).toBeLessThanOrEqual(BUCKET);
      }
    }
  });
});
