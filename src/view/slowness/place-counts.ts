/** Times of the transfers of one size class in a window. Pure. */
import { timeAt } from './packed-times.js';

/** Places that are reserved at first and beside others: the times of most classes are within a factor of sixteen. */
const ROOM = 16;

/** Counts by place, see packed-times.ts. */
export class PlaceCounts {
  count = 0;
  /** Of the places from `#first` on. */
  #counts = new Uint32Array(0);
  #first = 0;

  add(place: number, count: number): void {
    if (place < this.#first || place >= this.#first + this.#counts.length) this.#reserve(place);
    this.count += count;
    this.#counts[place - this.#first]! += count;
  }

  #reserve(place: number): void {
    const { length } = this.#counts;
    const [lowest, highest] = length === 0 ? [place, place] : [this.#first, this.#first + length - 1];
    const first = place <= lowest ? Math.max(0, place - ROOM) : lowest;
    const end = place >= highest ? place + ROOM : highest + 1;
    const counts = new Uint32Array(end - first);
    counts.set(this.#counts, length === 0 ? 0 : this.#first - first);
    this.#counts = counts;
    this.#first = first;
  }

  /** Returns the quantiles of ascending ranks from 0 to 1, microseconds. */
  quantiles(ranks: readonly number[]): number[] {
    const values: number[] = [];
    let reached = 0;
    let i = -1;
    for (const rank of ranks) {
      const wanted = Math.max(1, rank * this.count);
      while (reached < wanted && i < this.#counts.length - 1) reached += this.#counts[++i]!;
      values.push(timeAt(this.#first + Math.max(0, i)));
    }
    return values;
  }

  /** Returns the number of times up to `us`. */
  countUpTo(us: number): number {
    let count = 0;
    for (let i = 0; i < this.#counts.length && timeAt(this.#first + i) <= us; i++) count += this.#counts[i]!;
    return count;
  }
}

/** Bound of the class above 1 GiB, in place of Infinity: files have no such number. */
export const UNBOUNDED = 2 ** 63;

/** Returns the bound of a class as JSON has it: null for none. */
export function jsonBound(upToBytes: number): number | null {
  return upToBytes === UNBOUNDED ? null : upToBytes;
}

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
