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

/** Finds the errors whose events NIXL's table or an earlier error counts already, by their places among the events. */
export function errorProblems(events: readonly CustomEvent[]): [number, Problem][] {
  const taken = new Map<string | number, string>(NIXL_ERRORS);
  const problems: [number, Problem][] = [];
  for (const [i, error] of events.entries()) {
    if (!isCustomError(error)) continue;
    const keys = [...errorKeys(error)];
    const clash = keys.find((key) => taken.has(key));
    if (clash === undefined) {
      const own = `the error ${error.status} of customEvents[${i}]`;
      for (const key of keys) taken.set(key, own);
    } else {
      const field = clash === error.event ? 'event' : 'status';
      problems.push([i, { path: [i, field], text: `is ${error[field]}, which meets ${taken.get(clash)}` }]);
    }
  }
  return problems;
}
