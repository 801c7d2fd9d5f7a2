/** A real Prometheus with native histograms scrapes a real serve, and its quantiles are those of the written durations. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingWriter } from '../../src/rings.js';
import { TransferEvent } from '../../src/ground/tally.js';
import { start, temporaryDirectory } from '../cli/command.js';
import { DISTRIBUTIONS, durationsOf, exactQuantile } from '../support/durations.js';
import { type Backend, NATIVE_HISTOGRAMS, PATIENTLY, startPrometheus } from './backends.js';

const COUNT = 20_000;
const QUANTILES = [0.01, 0.5, 0.9, 0.99, 0.999];
/** Width of a bucket: a power of two has sixteen of them. */
const BUCKET = 2 ** (1 / 16);
/** Buckets in seconds are those in microseconds, 0.41 % off. */
const SHIFT = 1.0042;

/** Name, label of the agent, and microseconds per unit. */
const NAMINGS = {
  nixl: { name: 'agent_xfer_time_us', agent: 'agent_name', us: 1, tolerance: BUCKET },
  otel: { name: 'nixl_transfer_duration', agent: 'nixl_agent_name', us: 1e6, tolerance: BUCKET * SHIFT },
} as const;

/** Writes the durations of each distribution as an agent of its name. */
function writeDurations(directory: string): void {
  for (const name of Object.keys(DISTRIBUTIONS)) {
    const writer = new RingWriter(path.join(directory, name), { wireVersion: 4, capacity: 2 ** 15 });
    for (const value of durationsOf(name, COUNT)) {
      if (!writer.push({ type: TransferEvent.XFER_TIME, value })) throw new Error('the ring is full');
    }
    writer.close();
  }
}

async function scraped(naming: keyof typeof NAMINGS, features: string[], settings = {}): Promise<Backend> {
  const directory = temporaryDirectory();
  writeDurations(directory);
  const serve = start(['serve', '--dir', directory, '--port', '0', '--naming', naming]);
  const [, url] = await serve.says(/serves (http:\S+)/);
  return startPrometheus(new URL(url!).host, features, settings);
}

/** Returns the value of each agent. */
async function byAgent(prometheus: Backend, expression: string, label: string): Promise<Record<string, number>> {
  const series = await prometheus.query(expression);
  return Object.fromEntries(series.map(({ metric, values }) => [metric[label]!, values[0]!]));
}

function ofEach<Value>(value: Value): Record<string, Value> {
  return Object.fromEntries(Object.keys(DISTRIBUTIONS).map((name) => [name, value]));
}

describe('with native histograms', () => {
  it.each(Object.keys(NAMINGS) as (keyof typeof NAMINGS)[])(
    'quantiles are within a bucket of the exact ones, in one series of each agent, in naming %s',
    async (naming) => {
      const { name, agent, us, tolerance } = NAMINGS[naming];
      const prometheus = await scraped(naming, [NATIVE_HISTOGRAMS]);
      const counts = () => byAgent(prometheus, `histogram_count(${name})`, agent);
      await expect.poll(counts, PATIENTLY).toEqual(ofEach(COUNT));
      for (const quantile of QUANTILES) {
        const answers = await byAgent(prometheus, `histogram_quantile(${quantile}, ${name})`, agent);
        for (const distribution of Object.keys(DISTRIBUTIONS)) {
          const exact = exactQuantile(durationsOf(distribution, COUNT), quantile);
          const ratio = (answers[distribution]! * us) / exact;
          expect(ratio, `${quantile} of ${distribution}: ${ratio} times ${exact}`).toBeGreaterThan(1 / tolerance);
          expect(ratio, `${quantile} of ${distribution}: ${ratio} times ${exact}`).toBeLessThanOrEqual(tolerance);
        }
      }
      expect(await prometheus.number(`count({__name__=~"${name}_.+"})`)).toBeUndefined();
    },
  );

  it('keeps the series of buckets beside them for always_scrape_classic_histograms', async () => {
    const { name, agent } = NAMINGS.nixl;
    const settings = { always_scrape_classic_histograms: true };
    const prometheus = await scraped('nixl', [NATIVE_HISTOGRAMS], settings);
    const counts = (expression: string) => () => byAgent(prometheus, expression, agent);
    await expect.poll(counts(`histogram_count(${name})`), PATIENTLY).toEqual(ofEach(COUNT));
    await expect.poll(counts(`${name}_bucket{le="+Inf"}`), PATIENTLY).toEqual(ofEach(COUNT));
  });
});
