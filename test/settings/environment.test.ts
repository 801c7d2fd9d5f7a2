import path from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { NixlMetricProducer } from '../../src/index.js';
import { OPTION_ROWS } from '../../src/settings/option-rows.js';
import { resolve } from '../../src/settings/resolve.js';
import { RingWriter } from '../../src/shm-bridge/index.js';
import { allDrained, temporaryDirectory } from '../support/live.js';
import { samplesOf } from '../support/page.js';
import { scrape } from '../instrumentation/readers.js';

/** Options that a variable sets. */
function optionsFromEnvironment(environment: Record<string, string>): Record<string, unknown> {
  const resolved = resolve(OPTION_ROWS, { givenBy: 'option', environment });
  return Object.fromEntries(
    [...resolved].filter(([, { origin }]) => origin !== 'default').map(([key, { value }]) => [key, value]),
  );
}

describe("NIXL's variables", () => {
  it.each([
    [{}, {}],
    [{ NIXL_TELEMETRY_DIR: '', NIXL_TELEMETRY_ENABLED_METRICS: '' }, {}],
    [{ NIXL_TELEMETRY_DIR: '/a' }, { directories: ['/a'] }],
    [{ NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US: '0.5, 10,1e3' }, { durationBoundsUs: [0.5, 10, 1000] }],
    [{ NIXL_TELEMETRY_RUN_INTERVAL: '50' }, { drainIntervalMs: 10 }],
    [{ NIXL_TELEMETRY_RUN_INTERVAL: '1000' }, { drainIntervalMs: 20 }],
  ])('%j is %j', (environment, options) => {
    expect(optionsFromEnvironment(environment)).toEqual(options);
  });

  it.each(['0,1', '10,10', '20,10', '-1', 'a', '1,,2', 'Infinity'])('refuses the buckets %j', (text) => {
    expect(() => optionsFromEnvironment({ NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US: text })).toThrow(
      `NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US is "${text}"; allowed: 1 to 256 positive`,
    );
  });

  it('refuses an interval that is no number', () => {
    expect(() => optionsFromEnvironment({ NIXL_TELEMETRY_RUN_INTERVAL: 'often' })).toThrow(
      'NIXL_TELEMETRY_RUN_INTERVAL',
    );
  });
});

describe('a producer', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('uses the variables, and options before them', async () => {
    const directory = temporaryDirectory();
    const writer = new RingWriter(path.join(directory, 'agent'), { wireVersion: 4 });
    for (const [type, value] of [
      [6, 15n],
      [0, 100n],
      [2, 1n],
    ] as const)
      writer.push({ type, value });
    vi.stubEnv('NIXL_TELEMETRY_DIR', directory);
    vi.stubEnv('NIXL_TELEMETRY_ENABLED_METRICS', 'agent_xfer_time');
    vi.stubEnv('NIXL_TELEMETRY_HISTOGRAM_BUCKETS_US', '10,20');
    const samples = async (options: ConstructorParameters<typeof NixlMetricProducer>[0]) => {
      const producer = new NixlMetricProducer(options);
      onTestFinished(() => producer.close());
      await allDrained(directory);
      return samplesOf(await scrape(producer));
    };
    const byVariables = await samples({ series: 'full' });
    const buckets = byVariables.filter(({ name }) => name === 'agent_xfer_time_us_bucket');
    expect(buckets.map(({ labels, value }) => [labels['le'], value])).toEqual([
      ['10', 0],
      ['20', 1],
      ['+Inf', 1],
    ]);
    expect(byVariables.filter(({ name }) => name.includes('bytes'))).toEqual([]);
    expect(byVariables.filter(({ name }) => name === 'nixl_events_total').map(({ labels }) => labels['event'])).toEqual(
      ['agent_xfer_time'],
    );
    const byOption = await samples({ enabledMetrics: ['agent_tx_*'] });
    expect(byOption.some(({ name }) => name === 'agent_tx_bytes_total')).toBe(true);
    expect(byOption.some(({ name }) => name === 'agent_xfer_time_total')).toBe(false);
  });
});
