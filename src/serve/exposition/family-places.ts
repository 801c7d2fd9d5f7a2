/** Places of the families on a page, and the parts of a page that a request names with `name[]`. Pure. */
import type { Pieces } from '../http/sending.js';
import type { Family } from './spelling.js';

export interface FamilyPlace {
  readonly family: Family;
  readonly begin: number;
  readonly end: number;
}

const HISTOGRAM_ENDS = ['_bucket', '_count', '_sum'];

/** Returns the names that a query has as `name[]`. */
export function queriedNames(query: string | undefined): ReadonlySet<string> {
  return new Set(new URLSearchParams(query).getAll('name[]'));
}

/** Parts of one page, without copies. */
export class PageParts {
  readonly #page: Uint8Array;
  readonly #places: readonly FamilyPlace[];
  readonly #end: readonly Uint8Array[];
  /** By the places of their families. */
  readonly #made = new Map<string, Pieces>();

  /** `end`: what each page ends with. */
  constructor(page: Uint8Array, places: readonly FamilyPlace[], end = '') {
    this.#page = page;
    this.#places = places;
    this.#end = end === '' ? [] : [Buffer.from(end)];
  }

  /** Returns the whole families that have one of the names, or a series of that name. Equal parts are one. */
  of(names: ReadonlySet<string>): Pieces {
    const isNamed = ({ name, type }: Family): boolean =>
      names.has(name) || (type === 'histogram' && HISTOGRAM_ENDS.some((end) => names.has(name + end)));
    const places = this.#places.filter(({ family }) => isNamed(family));
    const key = places.map(({ begin }) => begin).join();
    const pieces = places.map(({ begin, end }) => this.#page.subarray(begin, end));
    const part = this.#made.get(key) ?? { memory: this.#page, pieces: [...pieces, ...this.#end] };
    this.#made.set(key, part);
    return part;
  }
}
