/** Builder `comprehensive`: one counter of all events and records, with all configured attributes. */
import { type Counter, type Meter, ValueType } from '@opentelemetry/api';
import { madeOnce } from '../../ground/maps.js';
import { type Attributes, slug } from '../../mapping/index.js';
import { METRIC_NIXL_COMPREHENSIVE_EVENTS as NAME } from '../../mapping/semconv.js';
import type { EventGain, EventRecord, MetricBuilder } from '../../settings/metric-builder.js';

const MAX_NAMES = 256;
const OPTIONS = {
  unit: '{event}',
  description: 'Events of agents and records, with all configured attributes.',
  valueType: ValueType.DOUBLE,
};

export class ComprehensiveBuilder implements MetricBuilder {
  readonly name: string;
  readonly #inNames: boolean;
  #meter: Meter | undefined;
  #counters = new Map<string, Counter>();

  /** `inNames`: appends the values to the metric's name, in the attributes' order, for backends without attributes. */
  constructor(inNames = false) {
    this.name = inNames ? 'comprehensive_names' : 'comprehensive';
    this.#inNames = inNames;
  }

  create(meter: Meter): void {
    this.#meter = meter;
    this.#counters = new Map();
    if (!this.#inNames) this.#counter(NAME);
  }

  observe(gains: readonly EventGain[]): void {
    for (const { count, attributes, category, event } of gains) this.#add(count, { ...attributes, category, event });
  }

  process(_record: EventRecord, attributes: Attributes): void {
    this.#add(1, attributes);
  }

  #add(count: number, attributes: Attributes): void {
    if (this.#inNames) this.#counter([NAME, ...Object.values(attributes).map(part)].join('.')).add(count);
    else this.#counter(NAME).add(count, attributes);
  }

  /** Returns one of at most 256 counters: further names share the last one. */
  #counter(name: string): Counter {
    const isFull = this.#counters.size >= MAX_NAMES - 1 && !this.#counters.has(name);
    const admitted = isFull ? `${NAME}.other` : name;
    return madeOnce(this.#counters, admitted, () => this.#meter!.createCounter(admitted, OPTIONS));
  }
}

function part(value: unknown): string {
  return slug(String(value)) || '_';
}
