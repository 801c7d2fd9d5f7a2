/** Points over time in typed arrays: their memory is that of the constructor, whatever happens later. Pure. */
import type { Column } from '../../view/answers/history-answer.js';

/** History that is kept. */
export const KEPT_MS = 10 * 60_000;

type PointValues = Float64Array | Float32Array;

/** The newest points. Each has a time and the same number of values, of which NaN is unknown. */
export class KeptPoints {
  readonly #times: Float64Array;
  readonly #values: PointValues;
  readonly #width: number;
  #next = 0;
  #length = 0;

  /** `width`: number of values of a point. `Type`: 32 bits have seven digits. */
  constructor(capacity: number, width: number, Type: Float64ArrayConstructor | Float32ArrayConstructor = Float64Array) {
    this.#times = new Float64Array(capacity);
    this.#values = new Type(capacity * width);
    this.#width = width;
  }

  /** Missing values are NaN. */
  add(timeMs: number, values: ArrayLike<number> = []): void {
    const at = this.#next * this.#width;
    this.#times[this.#next] = timeMs;
    this.#values.fill(NaN, at, at + this.#width);
    this.#values.set(values, at);
    this.#next = (this.#next + 1) % this.#times.length;
    this.#length = Math.min(this.#length + 1, this.#times.length);
  }

  /** Returns the places of the points after `fromMs`, oldest first: at most ten minutes, however rare the points are. */
  after(fromMs: number): number[] {
    const capacity = this.#times.length;
    const newestMs = this.#times[(this.#next - 1 + capacity) % capacity]!;
    const sinceMs = Math.max(fromMs, newestMs - KEPT_MS);
    const first = (this.#next - this.#length + capacity) % capacity;
    const places: number[] = [];
    for (let i = 0; i < this.#length; i++) {
      const place = (first + i) % capacity;
      if (this.#times[place]! > sinceMs) places.push(place);
    }
    return places;
  }

  times(places: readonly number[]): number[] {
    return places.map((place) => this.#times[place]!);
  }

  column(places: readonly number[], measure: number, round = rounded): Column {
    return places.map((place) => {
      const value = this.#values[place * this.#width + measure]!;
      return Number.isNaN(value) ? null : round(value);
    });
  }

  /** Returns all values of a point, as a view. */
  values(place: number): PointValues {
    return this.#values.subarray(place * this.#width, (place + 1) * this.#width);
  }
}

/** Rounds to four digits: more would only make answers longer. */
export function rounded(value: number): number {
  if (value === 0) return 0;
  const digits = 3 - Math.floor(Math.log10(Math.abs(value)));
  // A negative power of ten is not exact, so that its products would have many digits.
  return digits >= 0
    ? Math.round(value * 10 ** digits) / 10 ** digits
    : Math.round(value / 10 ** -digits) * 10 ** -digits;
}
