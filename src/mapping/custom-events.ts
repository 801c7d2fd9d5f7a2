/** Events outside of NIXL's table, declared in the options: metrics for them, or a status in NIXL's errors. */
import { check, isObject, isText, listOf } from '../ground/arguments.js';
import { type AgentSnapshot, Category, type EventTally } from '../ground/tally.js';
import { globPattern } from './allowlist.js';
import type { CategoryTerm } from './categories.js';
import type { EventMatch } from './event-keys.js';
import { errorRow } from './events.js';
import type { EventPoint, HistogramMetric, Metric, NumberMetric } from './metric.js';
import { type Naming, NAMINGS } from './naming.js';

export const CUSTOM_METRIC_KINDS = ['counter', 'gauge', 'histogram', 'updowncounter'] as const;
export type CustomMetricKind = (typeof CUSTOM_METRIC_KINDS)[number];

export type CustomEvent = CustomMetric | CustomError;

export function isCustomError(event: CustomEvent): event is CustomError {
  return event.kind === 'error';
}

export interface CustomMetric {
  /** Name in wire version 1, or a glob with `*` and `?` over such names, or a type number. */
  readonly event: string | number;
  /** Restricts the metric to events of this category. Type numbers of wire versions 3 and up are all CUSTOM. Default: any. */
  readonly category?: CategoryTerm;
  /**
   * `counter`: sum of the values. `gauge`: last value. `histogram`: distribution. `updowncounter`: sum of the values as
   * signed 64-bit numbers, so that 2^64 - 1 is -1.
   */
  readonly kind: CustomMetricKind;
  /** Name of the metric, for both namings or for each. The label `event` distinguishes the events of a glob. */
  readonly name: string | Readonly<Record<Naming, string>>;
  readonly description?: string;
  /** UCUM. Default: none. */
  readonly unit?: string;
  /** Upper bounds of a histogram. Default: those of durations. */
  readonly bounds?: readonly number[];
}

/** Error that NIXL's table does not have, counted beside NIXL's errors. */
export interface CustomError {
  /** Name in wire version 1, or type number. NIXL's own names for the status match, too. */
  readonly event: string | number;
  readonly kind: 'error';
  /** Value of the label `status`; of `error.type` in naming `otel`. */
  readonly status: string;
}

/** Checks the fields that every metric needs. Options are checked in full. @throws NixlTelemetryError CONFIG_INVALID */
export function checkCustomEvents(name: string, events: readonly CustomEvent[]): void {
  listOf(name, events, (at, custom) => {
    check(isObject(custom), at, custom, 'an object with event, kind and name');
    const { event, kind } = custom as Partial<CustomEvent>;
    check(isText(event) || Number.isInteger(event), `${at}.event`, event, 'a name, a glob or a type number');
    check(isText(kind), `${at}.kind`, kind, [...CUSTOM_METRIC_KINDS, 'error'].join(', '));
  });
}

/** Returns a function that matches the declared events. Only events outside of the table can be declared. */
export function matcherOf({ event: asked, category }: CustomMetric): EventMatch {
  const number = category === undefined ? undefined : Category[category];
  const fits: EventMatch = ({ known, overflow, category: own }) =>
    !known && !overflow && (number === undefined || number === own);
  if (typeof asked === 'number') return (event) => fits(event) && event.type === asked;
  const pattern = globPattern(asked);
  return (event) => fits(event) && event.name !== undefined && pattern.test(event.name);
}

type OfEvent = Omit<EventPoint<bigint>, 'applies'>;

const PER_EVENT: Readonly<Record<Exclude<CustomMetricKind, 'histogram'>, OfEvent>> = {
  counter: { field: 'sum', read: ({ sum }) => sum },
  gauge: { field: 'last', read: ({ last }) => last },
  // Each negative value adds 2^64 too much to the sum, so the sum is right modulo 2^64.
  updowncounter: { read: ({ sum }) => BigInt.asIntN(64, sum) },
};

export function customMetrics(naming: Naming, events: readonly CustomMetric[], selects: EventMatch): Metric[] {
  return events.map((custom): NumberMetric | HistogramMetric => {
    const { kind, name, description = '', unit = '' } = custom;
    check(CUSTOM_METRIC_KINDS.includes(kind), 'customEvents: kind', kind, CUSTOM_METRIC_KINDS.join(', '));
    check(
      isText(name) || isObject(name),
      'customEvents: name',
      name,
      `a text, or an object with ${NAMINGS.join(', ')}`,
    );
    const matches = matcherOf(custom);
    const applies: EventMatch = (event) => event.count > 0 && matches(event) && selects(event);
    const about = { name: typeof name === 'string' ? name : name[naming], description, unit, divisor: 1, points: [] };
    if (kind !== 'histogram') return { ...about, kind, perEvent: { applies, ...PER_EVENT[kind] } };
    return {
      ...about,
      kind,
      perEvent: {
        applies: (event) => event.histogram !== undefined && applies(event),
        read: ({ histogram }) => histogram!,
      },
    };
  });
}

/** Returns the base event name, as in `enabledMetrics`. */
export function errorName({ status }: CustomError): string {
  return errorRow(-1, status).event;
}

/** Returns type number and names of the events that are counted: the declared one, and NIXL's names for the status. */
export function errorKeys({ event, status }: CustomError): ReadonlySet<string | number> {
  const { event: name, wireVersion1Name } = errorRow(-1, status);
  return new Set([event, name, wireVersion1Name!]);
}

export function errorMatcher(error: CustomError): EventMatch {
  const keys = errorKeys(error);
  return ({ known, overflow, type, name }: EventTally) =>
    !known && !overflow && (keys.has(type ?? -1) || (name !== undefined && keys.has(name)));
}

/** Returns a reading that is 0 until the first such event, as for the statuses of NIXL's table. */
export function errorSum(error: CustomError): (agent: AgentSnapshot) => bigint {
  const matches = errorMatcher(error);
  return ({ events }) => events.reduce((sum, event) => (matches(event) ? sum + event.sum : sum), 0n);
}
