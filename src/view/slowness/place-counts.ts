/** Times of the transfers of one size class in a window. Pure. */
import { PLACES, timeAt } from './packed-times.js';

/** Counts by place, see packed-times.ts. */
export class PlaceCounts {
  count = 0;
  readonly #counts = new Uint32Array(PLACES);
  #first = PLACES;
  #last = -1;

  add(place: number, count: number): void {
    this.count += count;
    this.#counts[place]! += count;
    if (place < this.#first) this.#first = place;
    if (place > this.#last) this.#last = place;
  }

  clear(): void {
    if (this.#last >= this.#first) this.#counts.fill(0, this.#first, this.#last + 1);
    this.count = 0;
    this.#first = PLACES;
    this.#last = -1;
  }

  /** Returns the quantiles of ascending ranks from 0 to 1, microseconds. */
  quantiles(ranks: readonly number[]): number[] {
    const values: number[] = [];
    let reached = 0;
    let place = this.#first - 1;
    for (const rank of ranks) {
      const wanted = Math.max(1, rank * this.count);
      while (reached < wanted && place < this.#last) reached += this.#counts[++place]!;
      values.push(timeAt(Math.max(0, place)));
    }
    return values;
  }

  /** Returns the number of times up to `us`. */
  countUpTo(us: number): number {
    let count = 0;
    for (let place = this.#first; place <= this.#last && timeAt(place) <= us; place++) count += this.#counts[place]!;
    return count;
  }
}

/** Bound of the class above 1 GiB, in place of Infinity: files have no such number. */
export const UNBOUNDED = 2 ** 63;

/** Figures of a class in a window. Times in microseconds. */
export interface ClassTimes {
  /** Inclusive; `UNBOUNDED` above 1 GiB. */
  readonly upToBytes: number;
  readonly count: number;
  readonly meanBytes: number;
  readonly p10: number;
  readonly p25: number;
  readonly p50: number;
  readonly p75: number;
  readonly p90: number;
  readonly max: number;
  /** Absent without posts. */
  readonly post?: { readonly p10: number; readonly p50: number; readonly max: number };
  /** Returns the number of transfers that took at most so long. */
  readonly countUpTo: (us: number) => number;
}
