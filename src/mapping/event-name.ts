/** What an event is called in labels, allowlists and batches. */
import { EVENTS } from './events.js';

interface EventKey {
  readonly type?: number;
  readonly name?: string;
  readonly known: boolean;
}

/** The base name of a known event, the name of one that the table does not know, or `type_` and its number. */
export function eventName({ type, name, known }: EventKey): string {
  if (type === undefined) return name ?? '';
  return (known ? EVENTS[type]?.event : undefined) ?? `type_${type}`;
}
