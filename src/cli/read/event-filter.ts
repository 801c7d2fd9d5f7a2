/** Names, categories and filters of events. Pure. */
import { InvalidArgumentError } from 'commander';
import { CATEGORIES } from '../../mapping/categories.js';
import { eventName } from '../../mapping/event-keys.js';
import { type EventRow, EVENTS } from '../../mapping/events.js';
import type { RingEventKind } from '../../shm-bridge/types.js';
import { Category } from '../../ground/tally.js';

type Kind = Omit<RingEventKind, 'timestamped'>;

const UNITS = new Map(EVENTS.map(({ event, unit }) => [event, unit]));

export function eventNameOf(kind: Kind): string {
  return eventName({ ...kind, known: true });
}

function categoryOf({ type, category }: Kind): number {
  return category ?? (type === undefined ? undefined : EVENTS[type]?.category) ?? Category.CUSTOM;
}

/** Returns the UCUM unit of the values; undefined if it is unknown. */
export function unitOf(kind: Kind): EventRow['unit'] | undefined {
  return UNITS.get(eventNameOf(kind)) ?? (categoryOf(kind) === Category.PERFORMANCE ? 'us' : undefined);
}

/** Returns NIXL's name of the category without the prefix that all categories have. */
export function shortCategory(kind: Kind): string {
  const category = categoryOf(kind);
  return CATEGORIES[category]?.name.replace('NIXL_TELEMETRY_', '') ?? `UNKNOWN_CATEGORY_${category}`;
}

export interface FilterOptions {
  errors?: boolean;
  /** Microseconds. */
  slow?: number;
}

/** Returns the least value of the events of a kind that are shown; undefined if none is shown. */
export type EventFilter = (kind: RingEventKind) => bigint | undefined;

const TIMES: ReadonlySet<string> = new Set(['agent_xfer_time', 'agent_xfer_post_time']);

/** `names`: patterns, one of which must match the name. */
export function eventFilter({ errors, slow }: FilterOptions, names?: readonly RegExp[]): EventFilter {
  const shown: ((kind: RingEventKind) => boolean)[] = [];
  if (names !== undefined) shown.push((kind) => names.some((name) => name.test(eventNameOf(kind))));
  if (errors === true) shown.push((kind) => categoryOf(kind) === Category.ERROR);
  if (slow !== undefined) shown.push((kind) => TIMES.has(eventNameOf(kind)));
  const least = BigInt(Math.ceil(slow ?? 0));
  return (kind) => (shown.every((shows) => shows(kind)) ? least : undefined);
}

const UNITS_US: Readonly<Record<string, number>> = { us: 1, ms: 1000, s: 1_000_000 };

/** Parses a time such as `10ms`. Returns microseconds. */
export function parseTime(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(us|ms|s)$/.exec(text) ?? [];
  const us = Number(number) * UNITS_US[unit ?? '']!;
  if (Number.isFinite(us)) return us;
  throw new InvalidArgumentError('Allowed: a number and us, ms or s, as in 10ms.');
}
