/** Rates and percentiles of the last minutes, for graphs. */
import { type Field, FIELDS, type PastPoint, type PastValues } from '../points.js';

const COUNT = FIELDS.length;

/** Five minutes at the usual interval. */
const CAPACITY = 300;
/** Shorter times are joined, so that an interval of 100 ms does not shorten the history. */
const SHORTEST_MS = 1_000;
/** The highest value counts where a mean would hide a peak. */
const HIGHEST: ReadonlySet<Field> = new Set(['p50', 'p90', 'p99', 'tooLow']);

/** The last times between two samples, at most 300. Later ones take the place of the oldest. */
export class History {
  #from = new Float64Array(CAPACITY);
  #to = new Float64Array(CAPACITY);
  /** Value `field` of time i is at `i * COUNT + field`; NaN if unknown. */
  #values = new Float32Array(CAPACITY * COUNT);
  /** Number of all times ever added: the next place, modulo the capacity. */
  #added = 0;

  /** Adds the values of a time, milliseconds since the epoch. Ignores a time that does not continue the others. */
  add(fromMs: number, toMs: number, values: PastValues): void {
    const last = (this.#added - 1 + CAPACITY) % CAPACITY;
    const lastToMs = this.#added > 0 ? this.#to[last]! : -Infinity;
    if (fromMs < lastToMs || toMs <= fromMs) return;
    const continues = fromMs === lastToMs && toMs - this.#from[last]! <= SHORTEST_MS;
    const place = continues ? last : this.#added % CAPACITY;
    const beforeMs = lastToMs - this.#from[place]!;
    for (let i = 0; i < COUNT; i++) {
      const at = place * COUNT + i;
      const value = values[FIELDS[i]!] ?? NaN;
      this.#values[at] = continues ? joined(FIELDS[i]!, this.#values[at]!, beforeMs, value, toMs - fromMs) : value;
    }
    if (!continues) {
      this.#from[place] = fromMs;
      this.#added++;
    }
    this.#to[place] = toMs;
  }

  /** Adds points where nothing is known, up to `endMs`. */
  fill(points: readonly PastPoint[], endMs: number): void {
    const known = this.#points().filter(({ values }) => !Number.isNaN(values.tx));
    const added = points.flatMap((point) => [...outside(point, known, endMs)]);
    const inOrder = [...known, ...added].sort((a, b) => a.fromMs - b.fromMs);
    this.clear();
    for (const { fromMs, toMs, values } of inOrder) this.add(fromMs, toMs, values);
  }

  /** Forgets everything: the clock was set back. */
  clear(): void {
    this.#added = 0;
  }

  copy(): History {
    const copy = new History();
    copy.#from = this.#from.slice();
    copy.#to = this.#to.slice();
    copy.#values = this.#values.slice();
    copy.#added = this.#added;
    return copy;
  }

  /** Highest value of a field, or of the sum of some, since this time; 0 without values. */
  highest(fields: readonly Field[], sinceMs = -Infinity): number {
    return Math.max(0, ...this.#known(fields, sinceMs));
  }

  /** Lowest value of a field above 0 since this time; Infinity without values. */
  lowest(field: Field, sinceMs = -Infinity): number {
    return Math.min(...this.#known([field], sinceMs));
  }

  /**
   * Divides the `spanMs` before `endMs` into `count` parts. Returns the value of a field, or of the sum of some, in each, and
   * NaN where it is unknown. The bounds of the parts are multiples of their length, so that a part keeps its value.
   */
  parts(fields: readonly Field[], endMs: number, spanMs: number, count: number): Float64Array {
    const partMs = spanMs / count;
    const first = Math.ceil(endMs / partMs) - count;
    const beginMs = first * partMs;
    const indices = indicesOf(fields);
    const isHighest = fields.some((field) => HIGHEST.has(field));
    const sums = new Float64Array(count);
    const weights = new Float64Array(count);
    for (let at = this.#added - 1; at >= this.#first && this.#to[at % CAPACITY]! > beginMs; at--) {
      const place = at % CAPACITY;
      const fromMs = this.#from[place]!;
      const toMs = Math.min(this.#to[place]!, endMs);
      const value = this.#sum(place, indices);
      if (Number.isNaN(value)) continue;
      const end = Math.min(count, Math.ceil(toMs / partMs) - first);
      for (let i = Math.max(0, Math.floor(fromMs / partMs) - first); i < end; i++) {
        const partBeginMs = (first + i) * partMs;
        const weight = Math.min(toMs, partBeginMs + partMs) - Math.max(fromMs, partBeginMs);
        if (weight <= 0) continue;
        sums[i] = isHighest ? Math.max(sums[i]!, value) : sums[i]! + value * weight;
        weights[i]! += weight;
      }
    }
    return sums.map((sum, i) => (weights[i]! === 0 ? NaN : isHighest ? sum : sum / weights[i]!));
  }

  /** Values above 0, newest first. */
  *#known(fields: readonly Field[], sinceMs: number): Generator<number> {
    const indices = indicesOf(fields);
    for (let i = this.#added - 1; i >= this.#first && this.#to[i % CAPACITY]! > sinceMs; i--) {
      const value = this.#sum(i % CAPACITY, indices);
      if (value > 0) yield value;
    }
  }

  #points(): PastPoint[] {
    return Array.from({ length: this.#added - this.#first }, (_, i) => {
      const place = (this.#first + i) % CAPACITY;
      const values = FIELDS.map((field, at) => [field, this.#values[place * COUNT + at]!]);
      return { fromMs: this.#from[place]!, toMs: this.#to[place]!, values: Object.fromEntries(values) as PastValues };
    });
  }

  /** Number of the oldest time that is kept. */
  get #first(): number {
    return Math.max(0, this.#added - CAPACITY);
  }

  #sum(place: number, indices: readonly number[]): number {
    let sum = 0;
    for (const index of indices) sum += this.#values[place * COUNT + index]!;
    return sum;
  }
}

/** Returns the parts of a point before `endMs` that lie between others, which are in order. */
function* outside(point: PastPoint, others: readonly PastPoint[], endMs: number): Generator<PastPoint> {
  const { fromMs, toMs, values } = point;
  let beginMs = fromMs;
  for (const other of others) {
    if (other.toMs <= beginMs) continue;
    if (other.fromMs >= toMs) break;
    if (other.fromMs > beginMs) yield { fromMs: beginMs, toMs: other.fromMs, values };
    beginMs = other.toMs;
  }
  const lastMs = Math.min(toMs, endMs);
  if (beginMs < lastMs) yield { fromMs: beginMs, toMs: lastMs, values };
}

function indicesOf(fields: readonly Field[]): number[] {
  return fields.map((field) => FIELDS.indexOf(field));
}

function joined(field: Field, before: number, beforeMs: number, value: number, ms: number): number {
  if (Number.isNaN(before)) return value;
  if (Number.isNaN(value)) return before;
  return HIGHEST.has(field) ? Math.max(before, value) : (before * beforeMs + value * ms) / (beforeMs + ms);
}
