/** What declared events, histogram bounds and builders of the configuration may look like. */
import {
  Category,
  CATEGORY_WORDS,
  CUSTOM_METRIC_KINDS,
  type CustomEvent,
  type CustomMetric,
  EVENTS,
  HISTOGRAM_EVENTS,
  isCustomError,
  NAMINGS,
} from '../../mapping/index.js';
import type { MetricBuilder } from '../builders/metric-builder.js';
import { type BuilderName, BUILDER_NAMES } from '../builders/metric-processor.js';
import { CUSTOM_ERROR, errorsProblem } from './error-shapes.js';
import { builtInLike, type Named, sharedName } from './metric-names.js';
import { also, list, object, type Shape, text, value, word } from './shape.js';

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

const MAX_TYPE = 2 ** 32 - 1;
const eventKey = value(
  `a name or a glob, or a type number from ${EVENTS.length} to ${MAX_TYPE}`,
  {
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'integer', minimum: EVENTS.length, maximum: MAX_TYPE },
    ],
  },
  (given) =>
    (typeof given === 'string' && given !== '') ||
    (Number.isInteger(given) && (given as number) >= EVENTS.length && (given as number) <= MAX_TYPE),
);

const customMetric = also(
  object(
    {
      event: eventKey,
      category: word(CATEGORY_WORDS),
      // The message about a wrong kind lists "error" as well, which the other shape takes.
      kind: { ...word([...CUSTOM_METRIC_KINDS, 'error']), schema: word(CUSTOM_METRIC_KINDS).schema },
      name: names,
      description: text,
      unit: text,
      bounds: BOUNDS,
    },
    ['event', 'kind', 'name'],
  ),
  ({ kind, bounds }: CustomMetric) =>
    bounds !== undefined && kind !== 'histogram' ? `has bounds, but is a ${kind}` : undefined,
);
const customEvent: Shape = {
  allowed: `${customMetric.allowed}; or, of kind "error", ${CUSTOM_ERROR.allowed}`,
  schema: { anyOf: [customMetric.schema, CUSTOM_ERROR.schema] },
  problems: (given, path) =>
    ((given as Partial<CustomEvent> | null)?.kind === 'error' ? CUSTOM_ERROR : customMetric).problems(given, path),
};

export const CUSTOM_EVENTS: Shape = also(list(customEvent), (events: CustomEvent[]) => {
  const declared = events.filter((event) => !isCustomError(event));
  for (const naming of NAMINGS) {
    const metrics = declared.map(({ name, kind }) => ({ kind, name: typeof name === 'string' ? name : name[naming] }));
    for (const [i, metric] of metrics.entries()) {
      const problem =
        builtInProblem(metric) ??
        metrics
          .slice(0, i)
          .map((one) => problemOf(one, metric))
          .find(Boolean);
      if (problem !== undefined) return problem;
    }
  }
  return errorsProblem(events.filter(isCustomError));
});

function builtInProblem(metric: Named): string | undefined {
  const builtIn = builtInLike(metric);
  if (builtIn === undefined) return undefined;
  const alike = builtIn.name === metric.name ? '' : `${spelledLike(metric, builtIn)}, `;
  const remedy = ERRORS.includes(builtIn.name) ? ': to join it, give the event kind "error" and a status' : '';
  return `has the metric ${metric.name}, ${alike}which is there already${remedy}`;
}

function problemOf(one: Named, other: Named): string | undefined {
  if (one.name === other.name) return `has the metric ${one.name} twice`;
  if (sharedName(one, other) === undefined) return undefined;
  return `has the metric ${other.name}, ${spelledLike(other, one)}`;
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

export const BUILDERS: Shape = also(list(builder), (builders: (BuilderName | MetricBuilder)[]) => {
  const twice = builders.find((one, i) => builders.indexOf(one) !== i);
  if (twice === undefined) return undefined;
  return `has ${typeof twice === 'string' ? twice : twice.name} twice`;
});
