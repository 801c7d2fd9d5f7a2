/** Presets of series: builders and bounds that follow from them, and the options that replace them. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PRESETS, SERIES_PRESETS } from '../../src/mapping/index.js';
import type { NixlMetricProducerOptions } from '../../src/settings/options.js';
import { producerSettings } from '../../src/settings/settings.js';

beforeEach(() => void vi.stubEnv('NIXL_TELEMETRY_DIR', '/rings'));
afterEach(() => vi.unstubAllEnvs());

function boundsOf(options: NixlMetricProducerOptions): (readonly number[])[] {
  const { sizeBounds, throughputBounds, durationBoundsUs } = producerSettings(options).source.tally;
  return [sizeBounds, throughputBounds, durationBoundsUs];
}

const FULL = Object.values(PRESETS.full.bounds);

describe('a preset of series', () => {
  it.each([
    [{ series: 'nixl' }, ['nixl'], false],
    [{}, ['nixl', 'transfers', 'models', 'categories', 'custom', 'agents', 'records'], true],
    [{ series: 'standard' }, ['nixl', 'transfers', 'models', 'categories', 'custom', 'agents', 'records'], true],
    [
      { series: 'full' },
      ['nixl', 'transfers', 'durations', 'models', 'events', 'custom', 'agents', 'sizes', 'records'],
      true,
    ],
    [{ builders: ['nixl'] }, ['nixl'], true],
  ] as const)('has builders: %o', (options, builders, hasOwnMetrics) => {
    expect(producerSettings(options)).toMatchObject({ builders, hasOwnMetrics });
  });

  it('has bounds, six for sizes and throughput in standard', () => {
    expect(boundsOf({})).toEqual([
      [4096, 65_536, 1_048_576, 16_777_216, 268_435_456, 4_294_967_296],
      [1e8, 1e9, 5e9, 2.5e10, 1e11, 5e11],
      PRESETS.full.bounds.durationBoundsUs,
    ]);
    for (const options of [{ series: 'full' }, { series: 'nixl' }, { builders: ['transfers'] }] as const) {
      expect(new Set(boundsOf(options))).toEqual(new Set(FULL));
    }
  });

  it('has bounds that full has, too: sums over hosts with either find the same buckets', () => {
    for (const measure of ['sizeBounds', 'throughputBounds'] as const) {
      expect(PRESETS.full.bounds[measure]).toEqual(expect.arrayContaining([...PRESETS.standard.bounds[measure]]));
    }
  });

  it.each(SERIES_PRESETS.filter((series) => series !== 'nixl'))(
    'leaves the bounds to the options that set them: %s',
    (series) => {
      expect(boundsOf({ series, sizeBounds: [1], throughputBounds: [2], durationBoundsUs: [3] })).toEqual([
        [1],
        [2],
        [3],
      ]);
    },
  );
});
