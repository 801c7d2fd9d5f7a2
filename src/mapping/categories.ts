/** NIXL's event categories, with the series that an event outside of the event table gets in each. */
import { Category } from '../ground/tally.js';

/**
 * Series of an event. `counter`: count and sum. `counter-gauge`: the last value, too.
 * `counter-gauge-histogram`: also the distribution.
 */
export type EventKind = 'counter' | 'counter-gauge' | 'counter-gauge-histogram';

/** NIXL's names, indexed by category number. */
export const CATEGORIES: readonly { readonly name: string; readonly defaultKind: EventKind }[] = [
  { name: 'NIXL_TELEMETRY_MEMORY', defaultKind: 'counter-gauge' },
  { name: 'NIXL_TELEMETRY_TRANSFER', defaultKind: 'counter' },
  { name: 'NIXL_TELEMETRY_CONNECTION', defaultKind: 'counter' },
  { name: 'NIXL_TELEMETRY_BACKEND', defaultKind: 'counter' },
  { name: 'NIXL_TELEMETRY_ERROR', defaultKind: 'counter' },
  { name: 'NIXL_TELEMETRY_PERFORMANCE', defaultKind: 'counter-gauge-histogram' },
  { name: 'NIXL_TELEMETRY_SYSTEM', defaultKind: 'counter-gauge' },
  { name: 'NIXL_TELEMETRY_CUSTOM', defaultKind: 'counter-gauge' },
];

/** Names of categories in options. */
export type CategoryTerm = keyof typeof Category;
export const CATEGORY_TERMS = Object.keys(Category) as CategoryTerm[];

/** NIXL's name for a number outside of 0..7. */
export const BAD_CATEGORY = 'BAD_CATEGORY';

export function categoryName(category: number): string {
  return (Number.isInteger(category) ? CATEGORIES[category]?.name : undefined) ?? BAD_CATEGORY;
}

/** Returns `counter` for a category that NIXL does not have: its events can only be counted. */
export function defaultKind(category: number): EventKind {
  return CATEGORIES[category]?.defaultKind ?? 'counter';
}
