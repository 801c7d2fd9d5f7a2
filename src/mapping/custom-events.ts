/** Events that NIXL does not know: declared by whoever writes them, with metrics of their own. */
import { check, isObject, isText, listOf } from '../arguments.js';
import { globPattern } from './allowlist.js';
import { Category } from './categories.js';
import { eventName } from './event-name.js';
import type { HistogramMetric, Metric, NumberMetric } from './metric.js';
import { type Naming, NAMINGS } from './naming.js';
import type { EventReading } from './tally.js';

export type CategoryWord = keyof typeof Category;
export const CATEGORY_WORDS = Object.keys(Category) as CategoryWord[];

export const CUSTOM_EVENT_KINDS = ['counter', 'gauge', 'histogram', 'updowncounter'] as const;
export type CustomEventKind = (typeof CUSTOM_EVENT_KINDS)[number];

export interface CustomEvent {
  /** The name that wire version 1 carries, or a glob with `*` and `?` over such names; or a type number. */
  readonly event: string | number;
  /** Only events of this category. Type numbers of wire versions 3 and up are all CUSTOM. Default: any. */
  readonly category?: CategoryWord;
  /**
   * `counter`: the sum of the values. `gauge`: the latest. `histogram`: their distribution. `updowncounter`: the sum, with
   * values taken as signed 64-bit numbers, so that 2^64 - 1 is -1.
   */
  readonly kind: CustomEventKind;
  /** Of the metric; one for both namings, or one each. Events of a glob are told apart by their label. */
  readonly name: string | Readonly<Record<Naming, string>>;
  readonly description?: string;
  /** UCUM. Default: none. */
  readonly unit?: string;
  /** Upper bounds of a histogram. Default: those of durations. */
  readonly bounds?: readonly number[];
}

/** @throws NixlTelemetryError CONFIG_INVALID where nothing could be made of them; options are checked in more detail. */
export function checkCustomEvents(name: string, events: readonly CustomEvent[]): void {
  listOf(name, events, (at, custom) => {
    check(isObject(custom), at, custom, 'an object with event, kind and name');
    const { event, kind } = custom as Partial<CustomEvent>;
    check(isText(event) || Number.isInteger(event), `${at}.event`, event, 'a name, a glob or a type number');
    check(isText(kind), `${at}.kind`, kind, CUSTOM_EVENT_KINDS.join(', '));
  });
}

type Matches = (event: EventReading) => boolean;

/** Only events that the table does not know can be declared. */
export function matcherOf({ event: asked, category }: CustomEvent): Matches {
  const number = category === undefined ? undefined : Category[category];
  const fits: Matches = ({ known, overflow, category: own }) =>
    !known && !overflow && (number === undefined || number === own);
  if (typeof asked === 'number') return (event) => fits(event) && event.type === asked;
  const pattern = globPattern(asked);
  return (event) => fits(event) && event.name !== undefined && pattern.test(event.name);
}

export function customMetrics(
  naming: Naming,
  events: readonly CustomEvent[],
  selects: (event: string) => boolean,
): Metric[] {
  return events.map((custom): NumberMetric | HistogramMetric => {
    const { kind, name, description = '', unit = '' } = custom;
    check(CUSTOM_EVENT_KINDS.includes(kind), 'customEvents: kind', kind, CUSTOM_EVENT_KINDS.join(', '));
    check(
      isText(name) || isObject(name),
      'customEvents: name',
      name,
      `a text, or an object with ${NAMINGS.join(', ')}`,
    );
    const matches = matcherOf(custom);
    const applies: Matches = (event) => event.count > 0 && matches(event) && selects(eventName(event));
    const about = { name: typeof name === 'string' ? name : name[naming], description, unit, divisor: 1, points: [] };
    switch (kind) {
      case 'counter':
        return { ...about, kind, perEvent: { applies, read: ({ sum }) => sum } };
      case 'gauge':
        return { ...about, kind, perEvent: { applies, read: ({ last }) => last } };
      case 'updowncounter':
        // Each negative value has put 2^64 too much into the sum: modulo 2^64 it is right.
        return { ...about, kind, perEvent: { applies, read: ({ sum }) => BigInt.asIntN(64, sum) } };
      case 'histogram':
        return {
          ...about,
          kind,
          perEvent: {
            applies: (event) => event.histogram !== undefined && applies(event),
            read: ({ histogram, sum }) => ({ bounds: histogram!.bounds, counts: histogram!.counts, sum }),
          },
        };
    }
  });
}
