/** Built-in builders that read the native tally: each is a set of metrics under a name. */
import { check, isObject, listOf, optionsObject } from '../ground/arguments.js';
import type { EventTally } from '../ground/tally.js';
import { agentMetrics } from './agent-metrics.js';
import { type Allowlist, EVERYTHING } from './allowlist.js';
import {
  checkCustomEvents,
  type CustomError,
  type CustomEvent,
  customMetrics,
  type CustomMetric,
  errorMatcher,
  errorName,
  isCustomError,
  matcherOf,
} from './custom-events.js';
import { type EventMatch, eventName } from './event-keys.js';
import { eventMetrics } from './event-metrics.js';
import { type EventRow, EVENTS } from './events.js';
import { categoryMetrics, keyMetrics } from './key-metrics.js';
import type { Metric } from './metric.js';
import { type Naming, NAMINGS } from './naming.js';
import { DEFAULT_NIXL_RELEASE, NIXL_RELEASES, type NixlRelease } from './releases.js';
import { sizeClassMetrics, timeModelMetrics } from './size-metrics.js';
import { timeMetrics } from './time-metrics.js';
import { durationMetrics, transferMetrics } from './transfer-metrics.js';

interface Context {
  readonly naming: Naming;
  readonly release: NixlRelease;
  /** Exported events of the table. */
  readonly rows: readonly EventRow[];
  readonly selects: EventMatch;
  /** Declared and exported errors. */
  readonly errors: readonly CustomError[];
  readonly customMetrics: readonly CustomMetric[];
}

const BUILDERS = {
  /** NIXL's own series. */
  nixl: ({ naming, release, rows, errors }) => eventMetrics({ naming, release, rows, errors }),
  /** Size and throughput by direction. */
  transfers: ({ rows }) => (hasTransfers(rows) ? transferMetrics() : []),
  /** Duration by direction. */
  durations: ({ rows }) => (hasTransfers(rows) ? durationMetrics() : []),
  /** One series per category and event. */
  events: ({ selects, customMetrics }) => keyMetrics(selects, declaredHistogram(customMetrics)),
  /** One series per category for the events of the table, and one per category and event for all others. */
  categories: ({ rows, selects, customMetrics }) => categoryMetrics(rows, selects, declaredHistogram(customMetrics)),
  /** Metrics of the option `customEvents`. */
  custom: ({ naming, selects, customMetrics: declared }) => customMetrics(naming, declared, selects),
  /** Life, memory in use, ring. */
  agents: ({ rows }) => agentMetrics(rows),
  time: () => timeMetrics(),
  /** Base time, asymptotic rate and share of posting by direction. */
  models: ({ rows }) => (hasTransfers(rows) ? timeModelMetrics() : []),
  /** Durations by direction and size. */
  sizes: ({ rows }) => (hasTransfers(rows) ? sizeClassMetrics() : []),
} satisfies Record<string, (context: Context) => Metric[]>;

export type TallyBuilderName = keyof typeof BUILDERS;
export const TALLY_BUILDERS = Object.keys(BUILDERS) as TallyBuilderName[];

export interface MetricsOptions {
  /** Default: all events. */
  readonly events?: Allowlist;
  readonly builders: readonly TallyBuilderName[];
  readonly customEvents?: readonly CustomEvent[];
  /** NIXL release with the names and labels of NIXL's own series in naming `nixl`. Default: `main`. */
  readonly release?: NixlRelease;
}

const OPTIONS = ['events', 'builders', 'customEvents', 'release'] as const;

/**
 * Returns all metrics of agents in one naming, in the order of the builders. Several readers must not share them: some
 * remember the previous collection.
 * @throws NixlTelemetryError CONFIG_INVALID
 */
export function metricsOf(naming: Naming, options: MetricsOptions): Metric[] {
  checkArguments(naming, options);
  const { events = EVERYTHING, builders, customEvents = [] } = options;
  const { release = DEFAULT_NIXL_RELEASE } = options;
  const errors = customEvents.filter(isCustomError);
  const nameOf = baseName(errors);
  const context: Context = {
    naming,
    release,
    rows: EVENTS.filter(({ event }) => events.selects(event)),
    selects: (event) => events.selects(nameOf(event)),
    errors: errors.filter((error) => events.selects(errorName(error))),
    customMetrics: customEvents.filter((event) => !isCustomError(event)),
  };
  return builders.flatMap((name) => BUILDERS[name](context));
}

function checkArguments(naming: Naming, options: MetricsOptions): void {
  check(NAMINGS.includes(naming), 'naming', naming, NAMINGS.join(', '));
  const given = optionsObject('options', options, OPTIONS);
  const { events = EVERYTHING, builders, customEvents = [], release = DEFAULT_NIXL_RELEASE } = given;
  check(isObject(events) && typeof events.selects === 'function', 'events', events, 'an object with selects()');
  listOf('builders', builders, (name, one) =>
    check(TALLY_BUILDERS.includes(one), name, one, TALLY_BUILDERS.join(', ')),
  );
  checkCustomEvents('customEvents', customEvents);
  check(NIXL_RELEASES.includes(release), 'release', release, NIXL_RELEASES.join(', '));
}

/** Returns a function from events to names for the allowlist. A declared error has the name that NIXL would give it. */
function baseName(errors: readonly CustomError[]): (event: EventTally) => string {
  const declared = errors.map((error) => ({ name: errorName(error), matches: errorMatcher(error) }));
  return (event) => declared.find(({ matches }) => matches(event))?.name ?? eventName(event);
}

/** Returns a function that matches the events that the options declare with a histogram. */
function declaredHistogram(customMetrics: readonly CustomMetric[]): EventMatch {
  const declared = customMetrics.filter(({ kind }) => kind === 'histogram').map(matcherOf);
  return (event) => declared.some((matches) => matches(event));
}

/** Returns whether transfers can be assembled, which needs the events of their times and bytes. */
function hasTransfers(rows: readonly EventRow[]): boolean {
  const has = (event: string): boolean => rows.some((row) => row.event === event);
  return has('agent_xfer_time') && (has('agent_tx_bytes') || has('agent_rx_bytes'));
}
