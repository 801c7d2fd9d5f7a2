/** How a declared event is named: not as NIXL's own events, which have their metrics already. */
import { Category, type CustomMetric, EVENTS, globPattern } from '../mapping/index.js';
import { also, number, type Shape, value } from './shape.js';

/** Bytes of a name in wire version 1. */
const LONGEST_NAME = 32;

interface KnownName {
  readonly name: string;
  readonly category: number;
}

/** As wire version 1 and the labels spell them. */
export const KNOWN_NAMES: readonly KnownName[] = EVENTS.flatMap(({ event, wireVersion1Name, category }) => [
  { name: event, category },
  ...(wireVersion1Name === undefined ? [] : [{ name: wireVersion1Name, category }]),
]);

const MOST_TYPE = 2 ** 32 - 1;
const typeNumber = number('a type number', EVENTS.length, MOST_TYPE, { integer: true });

/** A name, or the number of a type that NIXL's table does not have. `allowed`: the name, in words. */
export function eventKey(allowed: string, name: Shape): Shape {
  const nameOrNumber = value(
    `${allowed}, or a type number from ${EVENTS.length} to ${MOST_TYPE}`,
    { anyOf: [name.schema, typeNumber.schema] },
    (given) => [name, typeNumber].some((one) => one.problems(given).length === 0),
  );
  return also(nameOrNumber, neverCounted);
}

/** Returns why no such event would ever be counted; undefined if it can come. */
function neverCounted(event: string | number): string | undefined {
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
export function passedOver({ event, category }: Pick<CustomMetric, 'event' | 'category'>): string[] {
  if (typeof event === 'number' || /^\*+$/.test(event) || !/[*?]/.test(event)) return [];
  const pattern = globPattern(event);
  const fits = (one: KnownName): boolean => category === undefined || Category[category] === one.category;
  return KNOWN_NAMES.filter((one) => fits(one) && pattern.test(one.name)).map(({ name }) => name);
}
