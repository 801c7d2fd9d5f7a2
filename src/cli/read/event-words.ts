/** What events are called. Pure. */
import { CATEGORIES, Category, EVENTS } from '../../mapping/index.js';
import type { RingEventKind } from '../../shm-bridge/types.js';

type Kind = Omit<RingEventKind, 'timestamped'>;

export function eventName({ type, name }: Kind): string {
  if (type !== undefined) return EVENTS[type]?.event ?? `type_${type}`;
  return name ?? '';
}

export function eventCategory({ type, category }: Kind): number {
  return category ?? (type === undefined ? undefined : EVENTS[type]?.category) ?? Category.CUSTOM;
}

/** Without the prefix that all of them have. */
export function categoryWord(category: number): string {
  return CATEGORIES[category]?.name.replace('NIXL_TELEMETRY_', '') ?? `UNKNOWN_CATEGORY_${category}`;
}
