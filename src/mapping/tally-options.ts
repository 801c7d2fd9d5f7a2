/** The event table reduced to what a tally must know: numbers and spellings. */
import { check, isObject, optionsObject } from '../arguments.js';
import { type Bounds, DEFAULT_BOUNDS } from './bounds.js';
import { Category } from './categories.js';
import { checkCustomEvents, type CustomEvent } from './custom-events.js';
import { EVENTS } from './events.js';

/** The bridge's TallyOptions has this shape. */
export interface TallyTable extends Bounds {
  /** Indexed by type number. `names`: the spelling of wire version 1 first. `bounds`: where they are not the default. */
  readonly types: readonly {
    readonly category: number;
    readonly names: readonly string[];
    readonly bounds?: readonly number[];
  }[];
  /** Of declared events. */
  readonly histograms: readonly {
    readonly type?: number;
    readonly name?: string;
    readonly category?: number;
    readonly bounds: readonly number[];
  }[];
}

export interface TallyTableOptions extends Partial<Bounds> {
  /** By base event name, for the histogram of that event alone; in the event's own unit. */
  readonly histogramBounds?: Readonly<Record<string, readonly number[]>>;
  readonly customEvents?: readonly CustomEvent[];
}

/** Events that have a histogram, whose bounds can be set one by one. */
export const HISTOGRAM_EVENTS: readonly string[] = EVENTS.filter(({ kind }) => kind === 'counter-gauge-histogram').map(
  ({ event }) => event,
);

/** @throws NixlTelemetryError CONFIG_INVALID; bounds are checked where a source is opened with them. */
export function tallyOptions(options: TallyTableOptions = {}): TallyTable {
  const keys = ['durationBoundsUs', 'sizeBounds', 'throughputBounds', 'histogramBounds', 'customEvents'] as const;
  const { histogramBounds = {}, customEvents = [], ...bounds } = optionsObject('options', options, keys);
  check(isObject(histogramBounds), 'histogramBounds', histogramBounds, 'an object with bounds by event name');
  checkCustomEvents('customEvents', customEvents);
  const all: Bounds = { ...DEFAULT_BOUNDS, ...bounds };
  return {
    ...all,
    types: EVENTS.map(({ category, event, wireVersion1Name }) => ({
      category,
      names: wireVersion1Name === undefined ? [event] : [wireVersion1Name, event],
      ...(histogramBounds[event] === undefined ? {} : { bounds: histogramBounds[event] }),
    })),
    histograms: customEvents
      .filter(({ kind }) => kind === 'histogram')
      .map(({ event, category, bounds: own = all.durationBoundsUs }) => ({
        ...(typeof event === 'number' ? { type: event } : { name: event }),
        ...(category === undefined ? {} : { category: Category[category] }),
        bounds: own,
      })),
  };
}
