/** Names of metrics in a Prometheus that gets them by OTLP. */
import { describe, expect, it } from 'vitest';
import { translatedName, translatedSeries } from '../../packaging/reference/prometheus-names.mjs';
import { DURATION_METRICS, SELF_METRICS } from '../../src/instrumentation/self-metrics.js';
import { SERVE_METRICS } from '../../src/instrumentation/serve-metrics.js';
import { metricsOf, NAMINGS, NIXL_RELEASES, TALLY_BUILDERS } from '../../src/mapping/index.js';

describe('the translation of a name', () => {
  it.each([
    ['nixl.transfer.io', 'counter', 'By', 'nixl_transfer_io_bytes_total'],
    ['agent_tx_bytes_total', 'counter', '', 'agent_tx_bytes_total'],
    ['agent_tx_bytes_total', 'counter', 'By', 'agent_tx_bytes_total'],
    ['total.requests', 'counter', '{request}', 'requests_total'],
    ['nixl.ring.utilization', 'gauge', '1', 'nixl_ring_utilization_ratio'],
    ['nixl.duration.sampled_ratio', 'gauge', '1', 'nixl_duration_sampled_ratio'],
    ['parts', 'counter', '1', 'parts_total'],
    ['nixl.agent.up', 'gauge', '{agent}', 'nixl_agent_up'],
    ['nixl.transfer.throughput', 'histogram', 'By/s', 'nixl_transfer_throughput_bytes_per_second'],
    ['nixl.transfer.duration', 'histogram', 's', 'nixl_transfer_duration_seconds'],
    ['speed.per.second', 'gauge', 'm/s', 'speed_per_second_meters'],
    ['rate', 'gauge', '{request}/s', 'rate_per_second'],
    ['rate', 'gauge', '1/s', 'rate_per_second'],
    ['queue', 'updowncounter', 'furlong', 'queue_furlong'],
    ['a--b..c__d', 'gauge', '', 'a_b_c_d'],
    ['2nd.link', 'gauge', '%', '_2nd_link_percent'],
  ])('%s, %s of unit "%s"', (name, kind, unit, expected) => {
    expect(translatedName({ name, kind, unit })).toBe(expected);
  });

  it('has four names for a histogram', () => {
    expect(translatedSeries({ name: 'size', kind: 'histogram', unit: 'By' })).toEqual([
      'size_bytes',
      'size_bytes_bucket',
      'size_bytes_count',
      'size_bytes_sum',
    ]);
  });
});

describe.each(NAMINGS.flatMap((naming) => NIXL_RELEASES.map((release) => ({ naming, release }))))(
  'in naming $naming of NIXL $release',
  ({ naming, release }) => {
    // Without categories, which has the metrics of events. The presets have some of these builders.
    const builders = TALLY_BUILDERS.filter((builder) => builder !== 'categories');
    const ofAgents = metricsOf(naming, { builders, release });
    const metrics = [...ofAgents, ...SELF_METRICS, ...SERVE_METRICS[naming], ...DURATION_METRICS];

    it('no two metrics get the same name', () => {
      const names = metrics.flatMap(translatedSeries);
      expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    });

    it("NIXL's own series keep their names", () => {
      const own = metrics.filter(({ name }) => name.startsWith('agent_'));
      expect(own.map(translatedName)).toEqual(own.map(({ name }) => name));
      expect(own.length > 0).toBe(naming === 'nixl');
    });

    it('metrics of the process of serve keep the names that Prometheus knows', () => {
      const own = metrics.filter(({ name }) => name.startsWith('process_'));
      expect(own.map(translatedName)).toEqual(own.map(({ name }) => name));
      expect(own.length > 0).toBe(naming === 'nixl');
    });

    it('only ratios are named so', () => {
      const ratios = metrics.map(translatedName).filter((name) => name.endsWith('_ratio'));
      expect(ratios).toEqual([
        'nixl_ring_utilization_ratio',
        'nixl_time_busy_ratio',
        'nixl_transfer_post_share_ratio',
        'nixl_transfer_slowdown_ratio',
        'nixl_post_slowdown_ratio',
        'nixl_duration_sampled_ratio',
      ]);
    });
  },
);
