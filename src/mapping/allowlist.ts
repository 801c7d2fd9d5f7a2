/** Which events are exported: NIXL's allowlist, and exclusions besides. */
import { EVENTS } from './events.js';

export interface Allowlist {
  /** By the event's base name, as `agent_tx_bytes`: it selects or leaves out all series of it. */
  readonly selects: (event: string) => boolean;
  readonly entries: readonly string[];
  /** Those that match no event of the table: typing errors, or events of a backend's own. */
  readonly unmatched: readonly string[];
}

export const EVERYTHING: Allowlist = { selects: () => true, entries: [], unmatched: [] };

/**
 * Entries are globs with `*` and `?` over base event names; `!` in front excludes. With nothing but exclusions, everything
 * else is in; without entries, everything is. `declared`: events besides those of the table that are known to be.
 */
export function allowlist(entries: readonly string[], declared: readonly string[] = []): Allowlist {
  const known = [...EVENTS.map(({ event }) => event), ...declared];
  const trimmed = entries.map((entry) => entry.trim()).filter((entry) => entry !== '' && entry !== '!');
  if (trimmed.length === 0) return EVERYTHING;
  const rules = trimmed.map((entry) => ({
    entry,
    excludes: entry.startsWith('!'),
    pattern: globPattern(entry.replace(/^!/, '')),
  }));
  const included = rules.filter(({ excludes }) => !excludes);
  const excluded = rules.filter(({ excludes }) => excludes);
  const matches = (event: string, some: typeof rules): boolean => some.some(({ pattern }) => pattern.test(event));
  return {
    selects: (event) => (included.length === 0 || matches(event, included)) && !matches(event, excluded),
    entries: trimmed,
    unmatched: rules.filter(({ pattern }) => !known.some((event) => pattern.test(event))).map(({ entry }) => entry),
  };
}

/** The whole name must match. */
export function globPattern(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}
