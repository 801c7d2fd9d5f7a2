/** Presets of series: how many series an agent has, as builders and bounds of histograms. One row each. */
import type { TallyBuilderName } from './builders.js';
import { type Bounds, DEFAULT_BOUNDS } from './tally-options.js';

interface PresetRow {
  readonly builders: readonly TallyBuilderName[];
  /** Bounds, unless the options give their own. */
  readonly bounds: Bounds;
  /** True if there are also metrics that belong to no agent: of the collector, of exporters, and `target_info`. */
  readonly hasOwnMetrics: boolean;
}

/**
 * Six bounds cover what agents move, in steps of 16: from a page of memory (4 KiB) over blocks of a KV cache (some MiB) to
 * caches and weights (4 GiB). Full has the same bounds and one more in each step, so that sums over hosts with either
 * preset find the same buckets.
 */
const SIX_SIZES: readonly number[] = Array.from({ length: 6 }, (_, step) => 4096 * 16 ** step);

/**
 * The bounds separate the kinds of links by their rate in one direction. To 100 MB/s: transfers whose latency dominates. To
 * 1 GB/s: slow networks and disks. To 5 GB/s: 10 to 25 Gbit/s, and fast disks. To 25 GB/s: 40 to 200 Gbit/s, and PCIe 4. To
 * 100 GB/s: faster adapters, several adapters, and PCIe 5. To 500 GB/s: NVLink to its fourth generation. Above: later ones,
 * and copies within a GPU. Full has all these bounds, too.
 */
const SIX_THROUGHPUTS: readonly number[] = [1e8, 1e9, 5e9, 2.5e10, 1e11, 5e11];

export const PRESETS = {
  /** The series that the exporter of the chosen NIXL release prints. */
  nixl: { builders: ['nixl'], bounds: DEFAULT_BOUNDS, hasOwnMetrics: false },
  standard: {
    builders: ['nixl', 'transfers', 'models', 'categories', 'custom', 'agents'],
    bounds: { ...DEFAULT_BOUNDS, sizeBounds: SIX_SIZES, throughputBounds: SIX_THROUGHPUTS },
    hasOwnMetrics: true,
  },
  full: {
    builders: ['nixl', 'transfers', 'durations', 'models', 'events', 'custom', 'agents', 'sizes'],
    bounds: DEFAULT_BOUNDS,
    hasOwnMetrics: true,
  },
} as const satisfies Record<string, PresetRow>;

export type SeriesPreset = keyof typeof PRESETS;
export const SERIES_PRESETS = Object.keys(PRESETS) as SeriesPreset[];
export const DEFAULT_SERIES_PRESET: SeriesPreset = 'standard';
