/** Declared events that would never be counted, because they are NIXL's own or are no event's name. Pure. */
import { Category, type CustomEvent, EVENTS, globPattern } from '../../mapping/index.js';

/** Bytes of a name in wire version 1. */
const LONGEST_NAME = 32;

interface KnownName {
  readonly name: string;
  readonly category: number;
}

/** As wire version 1 and the labels spell them. */
const KNOWN_NAMES: readonly KnownName[] = EVENTS.flatMap(({ event, wireVersion1Name, category }) => [
  { name: event, category },
  ...(wireVersion1Name === undefined ? [] : [{ name: wireVersion1Name, category }]),
]);

/** Returns the problem, to be read after the key; undefined if such an event can come. */
export function neverCounted({ event }: Pick<CustomEvent, 'event'>): string | undefined {
  if (typeof event === 'number') return undefined;
  if (/^\d+$/.test(event)) return `is the text "${event}"; allowed: a type number without quotes, or a name`;
  const [, type] = /^type_(\d+)$/.exec(event) ?? [];
  if (type !== undefined) return `is ${event}, as labels name an event that has a number alone; allowed: ${type}`;
  if (KNOWN_NAMES.some(({ name }) => name === event))
    return `is ${event}, which is NIXL's own and has its metrics already`;
  if (!event.includes('*') && new TextEncoder().encode(event).length > LONGEST_NAME) {
    return `is ${event}, which is longer than the ${LONGEST_NAME} bytes that a ring has for a name`;
  }
  return undefined;
}

/** Returns NIXL's own events that a glob matches but does not count. None for `*` alone, which means all the others. */
export function passedOver({ event, category }: CustomEvent): string[] {
  if (typeof event === 'number' || /^\*+$/.test(event) || !/[*?]/.test(event)) return [];
  const pattern = globPattern(event);
  const fits = (one: KnownName): boolean => category === undefined || Category[category] === one.category;
  return KNOWN_NAMES.filter((one) => fits(one) && pattern.test(one.name)).map(({ name }) => name);
}
