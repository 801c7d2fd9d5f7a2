/** Checks declared errors of the configuration: events that add a status to NIXL's errors. */
import { type CustomEvent, errorKeys, isCustomError } from '../mapping/index.js';
import { eventKey, KNOWN_NAMES } from './known-events.js';
import { object, type Problem, type Shape, value, word } from './shape.js';

const STATUS = /^[a-z][a-z0-9_]{0,63}$/;
const status = value(
  'a lower-case letter, then lower-case letters, digits and _, at most 64, as in "xfer_stalled"',
  { type: 'string', pattern: STATUS.source },
  (given) => typeof given === 'string' && STATUS.test(given),
);

const NAME = /^[^*?]+$/;
/** No glob: a status counts one kind of event. */
const event = eventKey(
  'a name without * and ?',
  value('', { type: 'string', pattern: NAME.source }, (given) => typeof given === 'string' && NAME.test(given)),
);

export const CUSTOM_ERROR: Shape = object({ event, kind: word(['error']), status }, ['event', 'kind', 'status']);

/** Finds errors that count what NIXL's table or an earlier error counts already, by its status or its event. */
export function errorsProblems(events: readonly CustomEvent[]): Problem[] {
  const taken = new Map<string | number, string>(
    KNOWN_NAMES.map(({ name }) => [name, 'which is a status of NIXL itself']),
  );
  return events.flatMap((error, i) => {
    if (!isCustomError(error)) return [];
    const key = [...errorKeys(error)].find((one) => taken.has(one));
    for (const one of errorKeys(error)) if (!taken.has(one)) taken.set(one, `which customEvents[${i}] counts already`);
    if (key === undefined) return [];
    const field = key === error.event ? 'event' : 'status';
    return [{ path: [i, field], text: `is ${error[field]}, ${taken.get(key)}` }];
  });
}
