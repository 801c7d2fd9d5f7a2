/** Selection of exported events: NIXL's allowlist, extended by exclusions. */
import { EVENTS } from './events.js';

export interface Allowlist {
  /** Takes the event's base name, as `agent_tx_bytes`, and selects all of its series or none. */
  readonly selects: (event: string) => boolean;
  readonly entries: readonly string[];
  /** Entries that match no known event: typing errors, or a backend's private events. */
  readonly unmatched: readonly string[];
}

export const EVERYTHING: Allowlist = { selects: () => true, entries: [], unmatched: [] };

/**
 * Parses entries: globs with `*` and `?` over base event names; a leading `!` excludes. Exclusions alone select all other
 * events, and an empty list selects all events. `declared`: known events outside of the table.
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

/** Returns a pattern that matches whole names. */
export function globPattern(glob: string): RegExp {
  const escaped = glob.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's');
}
