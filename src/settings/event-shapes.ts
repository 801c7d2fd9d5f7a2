/** Shapes of declared events, histogram bounds and builders. */
import {
  Category,
  CATEGORY_TERMS,
  CUSTOM_METRIC_KINDS,
  type CustomEvent,
  type CustomMetric,
  errorKeys,
  EVENTS,
  HISTOGRAM_EVENTS,
  isCustomError,
  NAMINGS,
} from '../mapping/index.js';
import { type BuilderName, BUILDER_NAMES, type MetricBuilder } from './metric-builder.js';
import { isObject } from '../ground/arguments.js';
import { builtInLike, KNOWN_EVENTS, type Named, sharedName } from './reserved-names.js';
import { isModulePath, MODULE_PATH } from './user-module.js';
import {
  also,
  either,
  list,
  object,
  type Path,
  pattern,
  type Problem,
  refuse,
  type Shape,
  text,
  value,
  wholeNumber,
  word,
} from './shape.js';

const MAX_BOUNDS = 256;
const areBounds = (given: unknown): boolean =>
  Array.isArray(given) &&
  given.length > 0 &&
  given.length <= MAX_BOUNDS &&
  given.every(
    (bound: unknown, i) => Number.isFinite(bound) && (bound as number) > (i === 0 ? 0 : (given[i - 1] as number)),
  );

/** Upper bounds of a histogram. A text has NIXL's form: commas between numbers, fractions allowed. */
export const BOUNDS: Shape<readonly number[]> = value(
  `1 to ${MAX_BOUNDS} positive, strictly increasing numbers`,
  { type: 'array', minItems: 1, maxItems: MAX_BOUNDS, items: { type: 'number', exclusiveMinimum: 0 } },
  areBounds,
  (text) => {
    const bounds = text.split(',').map((part) => (/^\s*\d*\.?\d+(e[+-]?\d+)?\s*$/i.test(part) ? Number(part) : NaN));
    return areBounds(bounds) ? bounds : refuse(`${BOUNDS.allowed} with commas between them`);
  },
);

export const HISTOGRAM_BOUNDS = object(Object.fromEntries(HISTOGRAM_EVENTS.map((event) => [event, BOUNDS])));

/** Bytes of a name in wire version 1. */
const LONGEST_NAME = 32;
const MOST_TYPE = 2 ** 32 - 1;
const typeNumber = wholeNumber(EVENTS.length, MOST_TYPE);

/** A name, or the number of a type that NIXL's table does not have. `allowed`: the name, in words. */
function eventKey(allowed: string, name: Shape): Shape {
  const nameOrNumber = value(
    `${allowed}, or a type number from ${EVENTS.length} to ${MOST_TYPE}`,
    { anyOf: [name.schema, typeNumber.schema] },
    (given) => [name, typeNumber].some((one) => one.problems(given).length === 0),
  );
  return also(nameOrNumber, countingProblem);
}

/** Returns the reason why no event with this key can be counted; undefined if events can be. */
function countingProblem(event: string | number): string | undefined {
  if (typeof event === 'number') return undefined;
  if (/^\d+$/.test(event)) return `is the text "${event}"; allowed: a type number without quotes, or a name`;
  const [, type] = /^type_(\d+)$/.exec(event) ?? [];
  if (type !== undefined) return `is ${event}, the label of an event without a name; allowed: ${type}`;
  if (KNOWN_EVENTS.some(({ name }) => name === event))
    return `is ${event}, an event of NIXL, which already has metrics`;
  if (!event.includes('*') && new TextEncoder().encode(event).length > LONGEST_NAME) {
    return `is ${event}, which is longer than the ${LONGEST_NAME} bytes that a ring has for a name`;
  }
  return undefined;
}

const CUSTOM_ERROR: Shape = object(
  {
    /** No glob: a status counts one kind of event. */
    event: eventKey('a name without * and ?', pattern('', /^[^*?]+$/)),
    kind: word(['error']),
    status: pattern(
      'a lower-case letter, then lower-case letters, digits and _, at most 64, as in "xfer_stalled"',
      /^[a-z][a-z0-9_]{0,63}$/,
    ),
  },
  ['event', 'kind', 'status'],
);

const metricName = pattern(
  'a letter, then letters, digits and _ . - /, at most 255',
  /^[A-Za-z][A-Za-z0-9_.\-/]{0,254}$/,
);
const eachNaming = object(Object.fromEntries(NAMINGS.map((naming) => [naming, metricName])), NAMINGS);
const names = either(metricName, eachNaming, `or an object with ${NAMINGS.join(' and ')}`, isObject);

/** Names of the metrics that count errors. */
const ERRORS = EVENTS.flatMap(({ category, nixl, otel }) =>
  category === Category.ERROR ? [nixl.counter?.name, otel.counter?.name] : [],
);

const customMetric = also(
  object(
    {
      event: eventKey('a name or a glob', text),
      category: word(CATEGORY_TERMS),
      // The message about a wrong kind lists "error" as well, which the other shape accepts.
      kind: { ...word([...CUSTOM_METRIC_KINDS, 'error']), schema: word(CUSTOM_METRIC_KINDS).schema },
      name: names,
      description: text,
      unit: text,
      bounds: BOUNDS,
    },
    ['event', 'kind', 'name'],
  ),
  ({ kind, bounds }: CustomMetric): readonly Problem[] => {
    if (bounds === undefined || kind === 'histogram') return [];
    return [{ path: ['bounds'], text: `is given, but kind is ${kind}; only a histogram has bounds` }];
  },
);
const customEvent = either(
  customMetric,
  CUSTOM_ERROR,
  `or, of kind "error", ${CUSTOM_ERROR.allowed}`,
  (given) => (given as Partial<CustomEvent> | null)?.kind === 'error',
);

interface Declared extends Named {
  /** Path of the name within the list. */
  readonly path: Path;
}

/** Reports one problem per event, in the first naming that has it. */
export const CUSTOM_EVENTS = also(list(customEvent), (events: CustomEvent[]) => {
  const problems = new Map<number, Problem>(
    errorsProblems(events).map((problem) => [problem.path[0] as number, problem]),
  );
  for (const naming of NAMINGS) {
    const metrics = events.flatMap((event, i): Declared[] => {
      if (isCustomError(event)) return [];
      const { name, kind } = event;
      if (typeof name === 'string') return [{ kind, name, path: [i, 'name'] }];
      return [{ kind, name: name[naming], path: [i, 'name', naming] }];
    });
    for (const [i, metric] of metrics.entries()) {
      const collisions = [builtInProblem(metric), ...metrics.slice(0, i).map((one) => problemOf(one, metric))];
      const text = collisions.find((one) => one !== undefined);
      const place = metric.path[0] as number;
      if (text !== undefined && !problems.has(place)) problems.set(place, { path: metric.path, text });
    }
  }
  return [...problems.values()];
});

/** Finds errors with a status or an event that NIXL's table or an earlier error already has. */
function errorsProblems(events: readonly CustomEvent[]): Problem[] {
  const taken = new Map<string | number, string>(
    KNOWN_EVENTS.map(({ name }) => [name, 'which is a status of NIXL itself']),
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

function builtInProblem(metric: Named): string | undefined {
  const builtIn = builtInLike(metric);
  if (builtIn === undefined) return undefined;
  const alike = builtIn.name === metric.name ? '' : `${spelledLike(metric, builtIn)}, `;
  const remedy = ERRORS.includes(builtIn.name) ? ': to count in it, give the event kind "error" and a status' : '';
  return `is ${metric.name}, ${alike}which another metric has${remedy}`;
}

function problemOf(one: Declared, other: Declared): string | undefined {
  const where = `customEvents[${one.path[0]}]`;
  if (one.name === other.name) return `is ${other.name}, which is the name of ${where} already`;
  if (sharedName(one, other) === undefined) return undefined;
  return `is ${other.name}, ${spelledLike(other, one)} of ${where}`;
}

function spelledLike(metric: Named, other: Named): string {
  return `which in Prometheus shares the name ${sharedName(metric, other)} with ${other.name}`;
}

const builderName = word(BUILDER_NAMES);
const builder: Shape<BuilderName | MetricBuilder> = {
  allowed: `${builderName.allowed}, or an object with name and create()`,
  schema: builderName.schema,
  problems(given, path = []) {
    if (typeof given !== 'object' || given === null) return builderName.problems(given, path);
    const { name, create } = given as { name?: unknown; create?: unknown };
    if (typeof name === 'string' && typeof create === 'function') return [];
    return [{ path, text: 'is an object without name and create()' }];
  },
};

/** Builders that count the same events in one metric. */
const COUNT_ALIKE: readonly BuilderName[] = ['events', 'categories'];

export const BUILDERS = withoutRepetition(builder);

/** In a file, paths of modules take the places of custom builders. */
export const BUILDERS_IN_FILE = withoutRepetition(
  either(builderName, pattern('the path of a module', MODULE_PATH), 'or the path of a module', isModulePath),
);

function withoutRepetition<T extends string | MetricBuilder>(one: Shape<T>): Shape<T[]> {
  const alike: readonly unknown[] = COUNT_ALIKE;
  return also(list(one, { minItems: 1 }), (builders: T[]): readonly Problem[] =>
    builders.flatMap((given, i) => {
      const name = typeof given === 'string' ? given : given.name;
      if (builders.indexOf(given) !== i) return [{ path: [i], text: `is ${name}, which is listed twice` }];
      const other = alike.includes(given) ? builders.slice(0, i).find((before) => alike.includes(before)) : undefined;
      if (other === undefined) return [];
      const text = `is ${name}, which counts the same events as ${other as string}: name one of the two`;
      return [{ path: [i], text }];
    }),
  );
}
