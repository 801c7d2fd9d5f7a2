/** Checks declared errors of the configuration: events that add a status to NIXL's errors. */
import { Category, type CustomError, type CustomEvent, errorKeys, EVENTS, isCustomError } from '../../mapping/index.js';
import { neverCounted } from './known-events.js';
import { also, object, type Problem, type Shape, value, word } from './shape.js';

const STATUS = /^[a-z][a-z0-9_]{0,63}$/;
const status = value(
  'a lower-case letter, then lower-case letters, digits and _, at most 64, as in "xfer_stalled"',
  { type: 'string', pattern: STATUS.source },
  (given) => typeof given === 'string' && STATUS.test(given),
);

const NAME = /^[^*?]+$/;
const MAX_TYPE = 2 ** 32 - 1;
/** No glob: a status counts one kind of event. */
const event = value(
  `a name without * and ?, or a type number from ${EVENTS.length} to ${MAX_TYPE}`,
  {
    anyOf: [
      { type: 'string', pattern: NAME.source },
      { type: 'integer', minimum: EVENTS.length, maximum: MAX_TYPE },
    ],
  },
  (given) =>
    typeof given === 'string'
      ? NAME.test(given)
      : Number.isInteger(given) && (given as number) >= EVENTS.length && (given as number) <= MAX_TYPE,
);

export const CUSTOM_ERROR: Shape = also(
  object({ event, kind: word(['error']), status }, ['event', 'kind', 'status']),
  (error: CustomError) => {
    const never = neverCounted(error);
    return never === undefined ? [] : [{ path: ['event'], text: never }];
  },
);

/** By type number and by name: the statuses of NIXL's own errors. */
const NIXL_ERRORS = EVENTS.filter(({ category }) => category === Category.ERROR).flatMap(
  ({ event, wireVersion1Name }): [string, string][] =>
    [event, wireVersion1Name!].map((key) => [key, 'which is a status of NIXL itself']),
);

/** Finds the errors whose status or event NIXL's table or an earlier error counts already. */
export function errorsProblems(events: readonly CustomEvent[]): Problem[] {
  const taken = new Map<string | number, string>(NIXL_ERRORS);
  return events.flatMap((error, i) => {
    if (!isCustomError(error)) return [];
    const key = [...errorKeys(error)].find((one) => taken.has(one));
    for (const one of errorKeys(error)) if (!taken.has(one)) taken.set(one, `which customEvents[${i}] counts already`);
    if (key === undefined) return [];
    const field = key === error.event ? 'event' : 'status';
    return [{ path: [i, field], text: `is ${error[field]}, ${taken.get(key)}` }];
  });
}
