/** A tally's options as the addon takes them: every list of bounds once, and indices into those. */
import { NixlTelemetryError } from '../errors.js';
import { increasing } from './checks.js';
import type { TallyOptions } from './types.js';

/** NIXL's category of times. */
const PERFORMANCE = 5;
const DURATIONS = 0;
const XFER_TIME = 6;

export interface RawTally {
  readonly types: readonly { readonly category: number; readonly names: readonly string[]; readonly bounds?: number }[];
  /** The first one is that of durations. */
  readonly bounds: readonly (readonly number[])[];
  readonly rules: readonly { type?: number; name?: string; category?: number; bounds: number }[];
  readonly sizeBounds: readonly number[];
  readonly throughputBounds: readonly number[];
}

/** @throws NixlTelemetryError CONFIG_INVALID */
export function rawTally({
  types,
  histograms = [],
  durationBoundsUs,
  sizeBounds,
  throughputBounds,
}: TallyOptions): RawTally {
  const bounds = [increasing('tally.durationBoundsUs', durationBoundsUs)];
  const indexOf = (name: string, own: readonly number[]): number => bounds.push(increasing(name, own)) - 1;
  increasing('tally.sizeBounds', sizeBounds);
  increasing('tally.throughputBounds', throughputBounds);
  return {
    types: types.map(({ category, names, bounds: own }, type) => {
      if (own !== undefined) return { category, names, bounds: indexOf(`tally.types[${type}].bounds`, own) };
      return category === PERFORMANCE ? { category, names, bounds: DURATIONS } : { category, names };
    }),
    rules: histograms.map(({ type, name, category, bounds: own }, i) => {
      if (type !== undefined && types[type] !== undefined) {
        throw new NixlTelemetryError('CONFIG_INVALID', `tally.histograms[${i}].type is ${type}, which is a known type`);
      }
      return {
        ...(type === undefined ? {} : { type }),
        // For fnmatch(3), to which [ and \ mean something that they do not mean here.
        ...(name === undefined ? {} : { name: name.replaceAll(/[[\\]/g, '\\$&') }),
        ...(category === undefined ? {} : { category }),
        bounds: indexOf(`tally.histograms[${i}].bounds`, own),
      };
    }),
    bounds,
    sizeBounds,
    throughputBounds,
  };
}

/** Transfers are measured by their time, and share its bounds. */
export function transferBounds({ types, bounds }: RawTally): readonly number[] {
  return bounds[types[XFER_TIME]?.bounds ?? DURATIONS]!;
}
