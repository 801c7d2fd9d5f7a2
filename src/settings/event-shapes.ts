/** What declared events, histogram bounds and builders of the configuration may look like. */
import {
  Category,
  CATEGORY_TERMS,
  CUSTOM_METRIC_KINDS,
  type CustomEvent,
  type CustomMetric,
  EVENTS,
  HISTOGRAM_EVENTS,
  isCustomError,
  NAMINGS,
} from '../mapping/index.js';
import type { MetricBuilder } from '../instrumentation/builders/metric-builder.js';
import { type BuilderName, BUILDER_NAMES } from '../instrumentation/builders/metric-processor.js';
import { CUSTOM_ERROR, errorsProblems } from './error-shapes.js';
import { eventKey } from './known-events.js';
import { builtInLike, type Named, sharedName } from './metric-names.js';
import { also, list, object, type Path, type Problem, type Shape, text, value, word } from './shape.js';

const MAX_BOUNDS = 256;

/** Upper bounds of a histogram. */
export const BOUNDS = value(
  `1 to ${MAX_BOUNDS} positive, strictly increasing numbers`,
  { type: 'array', minItems: 1, maxItems: MAX_BOUNDS, items: { type: 'number', exclusiveMinimum: 0 } },
  (given) =>
    Array.isArray(given) &&
    given.length > 0 &&
    given.length <= MAX_BOUNDS &&
    given.every(
      (bound: unknown, i) => Number.isFinite(bound) && (bound as number) > (i === 0 ? 0 : (given[i - 1] as number)),
    ),
);

export const HISTOGRAM_BOUNDS = object(Object.fromEntries(HISTOGRAM_EVENTS.map((event) => [event, BOUNDS])));

const METRIC_NAME = /^[A-Za-z][A-Za-z0-9_.\-/]{0,254}$/;
const metricName = value(
  'a letter, then letters, digits and _ . - /, at most 255',
  { type: 'string', pattern: METRIC_NAME.source },
  (given) => typeof given === 'string' && METRIC_NAME.test(given),
);
const eachNaming = object(Object.fromEntries(NAMINGS.map((naming) => [naming, metricName])), NAMINGS);
const names: Shape = {
  allowed: `${metricName.allowed}; or an object with ${NAMINGS.join(' and ')}`,
  schema: { anyOf: [metricName.schema, eachNaming.schema] },
  problems: (given, path) =>
    (typeof given === 'object' && given !== null ? eachNaming : metricName).problems(given, path),
};

/** Names of the metrics that count errors. */
const ERRORS = EVENTS.flatMap(({ category, nixl, otel }) =>
  category === Category.ERROR ? [nixl.counter?.name, otel.counter?.name] : [],
);

const customMetric = also(
  object(
    {
      event: eventKey('a name or a glob', text),
      category: word(CATEGORY_TERMS),
      // The message about a wrong kind lists "error" as well, which the other shape takes.
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
const customEvent: Shape = {
  allowed: `${customMetric.allowed}; or, of kind "error", ${CUSTOM_ERROR.allowed}`,
  schema: { anyOf: [customMetric.schema, CUSTOM_ERROR.schema] },
  problems: (given, path) =>
    ((given as Partial<CustomEvent> | null)?.kind === 'error' ? CUSTOM_ERROR : customMetric).problems(given, path),
};

interface Declared extends Named {
  /** Path of the name within the list. */
  readonly path: Path;
}

/** Finds one problem for each event, in the first naming that has it. */
export const CUSTOM_EVENTS: Shape = also(list(customEvent), (events: CustomEvent[]) => {
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
      const text = builtInProblem(metric) ?? firstOf(metrics.slice(0, i), (one) => problemOf(one, metric));
      const place = metric.path[0] as number;
      if (text !== undefined && !problems.has(place)) problems.set(place, { path: metric.path, text });
    }
  }
  return [...problems.values()];
});

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function builtInProblem(metric: Named): string | undefined {
  const builtIn = builtInLike(metric);
  if (builtIn === undefined) return undefined;
  const alike = builtIn.name === metric.name ? '' : `${spelledLike(metric, builtIn)}, `;
  const remedy = ERRORS.includes(builtIn.name) ? ': to join it, give the event kind "error" and a status' : '';
  return `is ${metric.name}, ${alike}which is there already${remedy}`;
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
const builder: Shape = {
  allowed: `${builderName.allowed}, or an object with name and create()`,
  schema: builderName.schema,
  problems(given, path = []) {
    if (typeof given !== 'object' || given === null) return builderName.problems(given, path);
    const { name, create } = given as { name?: unknown; create?: unknown };
    if (typeof name === 'string' && typeof create === 'function') return [];
    return [{ path, text: 'is an object without name and create()' }];
  },
};

export const BUILDERS: Shape = also(
  list(builder, { minItems: 1 }),
  (builders: (BuilderName | MetricBuilder)[]): readonly Problem[] =>
    builders.flatMap((one, i) => {
      if (builders.indexOf(one) === i) return [];
      return [{ path: [i], text: `is ${typeof one === 'string' ? one : one.name}, which is there twice` }];
    }),
);
