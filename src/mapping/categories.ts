/** NIXL's eight event categories, and what an event that no table row knows becomes in each of them. */

/**
 * Which series an event gets: `counter` its count and sum, `counter-gauge` the last value too, and
 * `counter-gauge-histogram` a distribution on top.
 */
export type EventKind = 'counter' | 'counter-gauge' | 'counter-gauge-histogram';

export const Category = {
  MEMORY: 0,
  TRANSFER: 1,
  CONNECTION: 2,
  BACKEND: 3,
  ERROR: 4,
  PERFORMANCE: 5,
  SYSTEM: 6,
  CUSTOM: 7,
} as const;

export type CategoryNumber = (typeof Category)[keyof typeof Category];

export interface CategoryRow {
  /** NIXL's own word. */
  readonly name: string;
  readonly defaultKind: EventKind;
}

/** Indexed by NIXL's category number. */
export const CATEGORIES: readonly CategoryRow[] = [
  { name: 'NIXL_TELEMETRY_MEMORY', defaultKind: 'counter-gauge' },
  { name: 'NIXL_TELEMETRY_TRANSFER', defaultKind: 'counter' },
  { name: 'NIXL_TELEMETRY_CONNECTION', defaultKind: 'counter' },
  { name: 'NIXL_TELEMETRY_BACKEND', defaultKind: 'counter' },
  { name: 'NIXL_TELEMETRY_ERROR', defaultKind: 'counter' },
  { name: 'NIXL_TELEMETRY_PERFORMANCE', defaultKind: 'counter-gauge-histogram' },
  { name: 'NIXL_TELEMETRY_SYSTEM', defaultKind: 'counter-gauge' },
  { name: 'NIXL_TELEMETRY_CUSTOM', defaultKind: 'counter-gauge' },
];

/** The word NIXL prints for a number outside of 0..7. */
export const BAD_CATEGORY = 'BAD_CATEGORY';

export function categoryName(category: number): string {
  return (Number.isInteger(category) ? CATEGORIES[category]?.name : undefined) ?? BAD_CATEGORY;
}

/** Of a category that NIXL does not have nothing is known but that events of it can be counted. */
export function defaultKind(category: number): EventKind {
  return CATEGORIES[category]?.defaultKind ?? 'counter';
}
