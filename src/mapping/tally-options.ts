/** Event table and histogram bounds as TallyOptions. Bounds are upper bounds, strictly increasing. */
import { check, isObject, optionsObject } from '../ground/arguments.js';
import { Category, type TallyOptions } from '../ground/tally.js';
import { checkCustomEvents, type CustomEvent, isCustomError } from './custom-events.js';
import { EVENTS } from './events.js';

/** NIXL's own buckets, microseconds: 10 us to 10 s. */
export const DURATION_BOUNDS_US: readonly number[] = [
  10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
  5_000_000, 10_000_000,
];

/** Bytes: powers of 4 from 256 B to 4 GiB. One KV-cache block is near their middle. */
export const SIZE_BOUNDS: readonly number[] = Array.from({ length: 13 }, (_, step) => 4 ** (step + 4));

/** Bytes per second: 1, 2.5 and 5 of each decade from 1 MB/s to 1 TB/s. */
export const THROUGHPUT_BOUNDS: readonly number[] = [
  ...[1e6, 1e7, 1e8, 1e9, 1e10, 1e11].flatMap((decade) => [decade, 2.5 * decade, 5 * decade]),
  1e12,
];

export type Bounds = Pick<TallyOptions, 'durationBoundsUs' | 'sizeBounds' | 'throughputBounds'>;

export const DEFAULT_BOUNDS: Bounds = {
  durationBoundsUs: DURATION_BOUNDS_US,
  sizeBounds: SIZE_BOUNDS,
  throughputBounds: THROUGHPUT_BOUNDS,
};

export interface TallyTableOptions extends Partial<Bounds> {
  /** Bounds of single events by base event name, in the event's unit. */
  readonly histogramBounds?: Readonly<Record<string, readonly number[]>>;
  readonly customEvents?: readonly CustomEvent[];
}

/** Events with a histogram, which `histogramBounds` may name. */
export const HISTOGRAM_EVENTS: readonly string[] = EVENTS.filter(({ kind }) => kind === 'counter-gauge-histogram').map(
  ({ event }) => event,
);

/** @throws NixlTelemetryError CONFIG_INVALID; openSource() checks the bounds. */
export function tallyOptions(options: TallyTableOptions = {}): TallyOptions {
  const keys = ['durationBoundsUs', 'sizeBounds', 'throughputBounds', 'histogramBounds', 'customEvents'] as const;
  const { histogramBounds = {}, customEvents = [], ...bounds } = optionsObject('options', options, keys);
  check(isObject(histogramBounds), 'histogramBounds', histogramBounds, 'an object with bounds by event name');
  checkCustomEvents('customEvents', customEvents);
  const all: Bounds = { ...DEFAULT_BOUNDS, ...bounds };
  return {
    ...all,
    // In any preset: the next serve may have another one.
    kept: DEFAULT_BOUNDS,
    types: EVENTS.map(({ category, event, wireVersion1Name }) => ({
      category,
      names: wireVersion1Name === undefined ? [event] : [wireVersion1Name, event],
      ...(histogramBounds[event] === undefined ? {} : { bounds: histogramBounds[event] }),
    })),
    histograms: customEvents
      .filter((declared) => !isCustomError(declared))
      .filter(({ kind }) => kind === 'histogram')
      .map(({ event, category, bounds: own = all.durationBoundsUs }) => ({
        ...(typeof event === 'number' ? { type: event } : { name: event }),
        ...(category === undefined ? {} : { category: Category[category] }),
        bounds: own,
      })),
  };
}
