/** Histogram bounds. All of them are upper bounds, strictly increasing. */

/** NIXL's own buckets, microseconds: 10 us to 10 s. */
export const DURATION_BOUNDS_US: readonly number[] = [
  10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
  5_000_000, 10_000_000,
];

/** Bytes: powers of 4 from 256 B to 4 GiB. One KV-cache block lies in the middle of them. */
export const SIZE_BOUNDS: readonly number[] = Array.from({ length: 13 }, (_, step) => 4 ** (step + 4));

/** Bytes per second: 1, 2.5 and 5 of each decade from 1 MB/s to 1 TB/s. */
export const THROUGHPUT_BOUNDS: readonly number[] = [
  ...[1e6, 1e7, 1e8, 1e9, 1e10, 1e11].flatMap((decade) => [decade, 2.5 * decade, 5 * decade]),
  1e12,
];

export interface Bounds {
  readonly durationBoundsUs: readonly number[];
  readonly sizeBounds: readonly number[];
  readonly throughputBounds: readonly number[];
}

export const DEFAULT_BOUNDS: Bounds = {
  durationBoundsUs: DURATION_BOUNDS_US,
  sizeBounds: SIZE_BOUNDS,
  throughputBounds: THROUGHPUT_BOUNDS,
};
