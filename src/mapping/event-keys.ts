/** Keys of events in a tally: names, labels and kinds, and the lookup of an event in another snapshot of its agent. */
import type { AgentSnapshot, EventTally } from '../ground/tally.js';
import { categoryName, defaultKind, type EventKind } from './categories.js';
import { EVENTS } from './events.js';

export type EventMatch = (event: EventTally) => boolean;

/** Returns the base name of a known event, the name of an unknown one, or `type_` and its number. */
export function eventName({ type, name, known }: Pick<EventTally, 'type' | 'name' | 'known'>): string {
  if (type === undefined) return name ?? '';
  return (known ? EVENTS[type]?.event : undefined) ?? `type_${type}`;
}

/** Names of category and event. */
export interface EventLabels {
  readonly category: string;
  readonly event: string;
}

/** Labels of the table's categories. One object per category: attributes are merged once per object. */
export const CATEGORY_LABELS = new Map<number, { readonly category: string }>(
  EVENTS.map(({ category }) => [category, { category: categoryName(category) }]),
);

export const OVERFLOW_LABELS: EventLabels = { category: 'overflow', event: 'overflow' };

export function eventLabels(event: EventTally): EventLabels {
  if (event.overflow) return OVERFLOW_LABELS;
  return { category: categoryName(event.category), event: eventName(event) };
}

export function eventKind(event: EventTally): EventKind {
  if (event.overflow) return 'counter';
  const row = event.known && event.type !== undefined ? EVENTS[event.type] : undefined;
  return row?.kind ?? defaultKind(event.category);
}

/** What identifies an event among those of its agent, in all snapshots. */
export type EventIdentity = Pick<EventTally, 'type' | 'name' | 'category' | 'overflow'>;

/** Returns whether two tallies of one agent, from two snapshots, have the same key. */
export function sameEvent(a: EventIdentity, b: EventIdentity): boolean {
  return a.type === b.type && a.name === b.name && a.category === b.category && a.overflow === b.overflow;
}

/** Returns the tally in `agent` with the key of `event`, which has this index in another snapshot: usually the same. */
export function eventLike({ events }: AgentSnapshot, index: number, event: EventTally): EventTally | undefined {
  const atIndex = events[index];
  if (atIndex !== undefined && sameEvent(atIndex, event)) return atIndex;
  return events.find((other) => sameEvent(other, event));
}
