/** The event table reduced to what a tally must know: numbers and spellings. */
import { type Bounds, DEFAULT_BOUNDS } from './bounds.js';
import { EVENTS } from './events.js';

/** The bridge's TallyOptions has this shape. */
export interface TallyTable extends Bounds {
  /** Indexed by type number. `names`: the spelling of wire version 1 first. */
  readonly types: readonly { readonly category: number; readonly names: readonly string[] }[];
}

/** `bounds`: what to use in place of the default bounds. */
export function tallyOptions(bounds: Partial<Bounds> = {}): TallyTable {
  return {
    ...DEFAULT_BOUNDS,
    ...bounds,
    types: EVENTS.map(({ category, event, wireVersion1Name }) => ({
      category,
      names: wireVersion1Name === undefined ? [event] : [wireVersion1Name, event],
    })),
  };
}
