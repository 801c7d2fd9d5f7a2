/** Checks declared errors of the configuration: events that add a status to NIXL's errors. */
import { Category, type CustomError, errorKeys, EVENTS } from '../../mapping/index.js';
import { object, type Shape, value, word } from './shape.js';

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

export const CUSTOM_ERROR: Shape = object({ event, kind: word(['error']), status }, ['event', 'kind', 'status']);

/** By type number and by name: what NIXL's table already counts. */
const NIXL_ERRORS = new Map(
  EVENTS.flatMap(({ type, event, wireVersion1Name, category }) =>
    [type, event, ...(wireVersion1Name === undefined ? [] : [wireVersion1Name])].map(
      (key): [string | number, string] => [
        key,
        category === Category.ERROR
          ? `${event.replace('agent_err_', '')}, a status that NIXL has itself`
          : `${event} of NIXL`,
      ],
    ),
  ),
);

/** Names the first error whose events NIXL's table or an earlier error counts already. */
export function errorsProblem(errors: readonly CustomError[]): string | undefined {
  const taken = new Map<string | number, string>(NIXL_ERRORS);
  for (const error of errors) {
    for (const key of errorKeys(error)) {
      const other = taken.get(key);
      if (other !== undefined) return `has the error ${error.status} of event ${error.event}, which meets ${other}`;
    }
    const own = `the error ${error.status} of event ${error.event}`;
    for (const key of errorKeys(error)) taken.set(key, own);
  }
  return undefined;
}
