/** Tally options in the form of the addon: each list of bounds once, and indices into them. */
import { check, increasing, invalid, isText, listOf, optionsObject, wholeNumberArgument } from '../ground/arguments.js';
import { Category, type TallyOptions, TransferEvent } from '../ground/tally.js';

/** Index of the bounds of durations. */
const DURATIONS = 0;

export interface RawTally {
  readonly types: readonly { readonly category: number; readonly names: readonly string[]; readonly bounds?: number }[];
  readonly bounds: readonly (readonly number[])[];
  readonly rules: readonly { type?: number; name?: string; category?: number; bounds: number }[];
  readonly sizeBounds: readonly number[];
  readonly throughputBounds: readonly number[];
  readonly keptBounds: readonly number[];
  readonly keptSizeBounds: readonly number[];
  readonly keptThroughputBounds: readonly number[];
}

/** Checks and converts tally options. @throws NixlTelemetryError CONFIG_INVALID */
export function rawTally(tally: TallyOptions): RawTally {
  checkTables(tally);
  const { types, histograms = [], durationBoundsUs, sizeBounds, throughputBounds, kept } = tally;
  const bounds = [frozen('tally.durationBoundsUs', durationBoundsUs)];
  const indexOf = (name: string, own: readonly number[]): number => bounds.push(frozen(name, own)) - 1;
  return {
    types: types.map(({ category, names, bounds: own }, type) => {
      if (own !== undefined) return { category, names, bounds: indexOf(`tally.types[${type}].bounds`, own) };
      return category === Category.PERFORMANCE ? { category, names, bounds: DURATIONS } : { category, names };
    }),
    rules: histograms.map(({ type, name, category, bounds: own }, i) => {
      if (type !== undefined && types[type] !== undefined) {
        throw invalid(`tally.histograms[${i}].type is ${type}, which is a known type`);
      }
      return {
        ...(type === undefined ? {} : { type }),
        // [ and \ have a meaning in fnmatch(3), but none in these options.
        ...(name === undefined ? {} : { name: name.replaceAll(/[[\\]/g, '\\$&') }),
        ...(category === undefined ? {} : { category }),
        bounds: indexOf(`tally.histograms[${i}].bounds`, own),
      };
    }),
    bounds,
    sizeBounds: frozen('tally.sizeBounds', sizeBounds),
    throughputBounds: frozen('tally.throughputBounds', throughputBounds),
    keptBounds: frozen('tally.kept.durationBoundsUs', kept?.durationBoundsUs ?? []),
    keptSizeBounds: frozen('tally.kept.sizeBounds', kept?.sizeBounds ?? []),
    keptThroughputBounds: frozen('tally.kept.throughputBounds', kept?.throughputBounds ?? []),
  };
}

/** Returns a copy that cannot change: all snapshots share it. @throws NixlTelemetryError CONFIG_INVALID */
function frozen(name: string, bounds: readonly number[]): readonly number[] {
  return Object.freeze([...increasing(name, bounds)]);
}

/** Checks all fields except the bounds. */
function checkTables(tally: TallyOptions): void {
  const bounds = ['durationBoundsUs', 'sizeBounds', 'throughputBounds'] as const;
  const { types, histograms = [], kept } = optionsObject('tally', tally, ['types', 'histograms', ...bounds, 'kept']);
  if (kept !== undefined) optionsObject('tally.kept', kept, bounds);
  const category = (name: string, given: unknown): number => wholeNumberArgument(name, given, -(2 ** 31), 2 ** 31 - 1);
  const text = (name: string, given: unknown): void => check(isText(given), name, given, 'a text');
  listOf('tally.types', types, (name, type) => {
    optionsObject(name, type, ['category', 'names', 'bounds']);
    category(`${name}.category`, type.category);
    listOf(`${name}.names`, type.names, text);
  });
  listOf('tally.histograms', histograms, (name, rule) => {
    optionsObject(name, rule, ['type', 'name', 'category', 'bounds']);
    if (rule.type !== undefined) wholeNumberArgument(`${name}.type`, rule.type, 0, 2 ** 32 - 1);
    if (rule.name !== undefined) text(`${name}.name`, rule.name);
    if (rule.category !== undefined) category(`${name}.category`, rule.category);
  });
}

/** Returns the bounds of transfer durations: those of `agent_xfer_time`. */
export function transferBounds({ types, bounds }: RawTally): readonly number[] {
  return bounds[types[TransferEvent.XFER_TIME]?.bounds ?? DURATIONS]!;
}
