/** Keeps what a format makes of attributes, as long as the attributes are in use. */
import type { Attributes } from '@opentelemetry/api';

/** Keeps only what is made of attributes that cannot change: a builder may reuse an object for other labels. */
export class KeptLabels<T extends object | string> {
  readonly #make: (attributes: Attributes) => T;
  readonly #kept = new WeakMap<Attributes, T>();

  constructor(make: (attributes: Attributes) => T) {
    this.#make = make;
  }

  of(attributes: Attributes): T {
    const kept = this.#kept.get(attributes);
    if (kept !== undefined) return kept;
    const made = this.#make(attributes);
    if (isConstant(attributes)) this.#kept.set(attributes, made);
    return made;
  }

  /** Returns whether of() always returns the same for this object. */
  keeps(attributes: Attributes): boolean {
    return this.#kept.has(attributes);
  }
}

/** The same for the points of a family. Between two pages a point rarely changes its place, which is faster to compare. */
export class LabelsInOrder<T extends object | string> {
  readonly #labels: KeptLabels<T>;
  readonly #attributes: (Attributes | undefined)[] = [];
  readonly #kept: T[] = [];

  constructor(labels: KeptLabels<T>) {
    this.#labels = labels;
  }

  of(place: number, attributes: Attributes): T {
    if (this.#attributes[place] === attributes) return this.#kept[place]!;
    const found = this.#labels.of(attributes);
    this.#attributes[place] = this.#labels.keeps(attributes) ? attributes : undefined;
    this.#kept[place] = found;
    return found;
  }

  /** Forgets all further points. */
  cut(points: number): void {
    this.#attributes.length = this.#kept.length = Math.min(points, this.#kept.length);
  }
}

/** Returns whether the object is frozen, with values that are frozen themselves: neither lists nor getters. */
function isConstant(attributes: Attributes): boolean {
  if (!Object.isFrozen(attributes)) return false;
  const properties = Object.values(Object.getOwnPropertyDescriptors(attributes));
  return properties.every((property) => 'value' in property && typeof property.value !== 'object');
}
