/** Counts, sums and percentiles of events by name, as a table. Pure. */
import { type ExponentialTally, TALLY_SCALE, trimmed } from '../../ground/exponential.js';
import { bucketOf } from '../../ground/exponential-bucket.js';
import { oneLine } from '../../ground/one-line.js';
import type { RingEventKind } from '../../shm-bridge/types.js';
import { bytesText, numberText, timeText, UNKNOWN } from '../../ground/figures/figure.js';
import { percentilesOf } from '../../view/figures/percentiles.js';
import { table } from '../../view/figures/table.js';
import { shortCategory, eventNameOf, unitOf } from './event-filter.js';

const HEADINGS = ['EVENT', 'COUNT', 'SUM', 'P50', 'P90', 'P99', 'MAX', 'CATEGORY'];

/** Bounded, because a hostile ring may hold very many names. */
const MAX_ROWS = 1_000;

interface SummaryRow {
  readonly event: string;
  readonly category: string;
  /** Undefined for a sum of events of any unit. */
  readonly format: ((value: number) => string) | undefined;
  readonly totals: EventTotals;
}

export class Summary {
  readonly #rows = new Map<string, SummaryRow>();
  readonly #others: SummaryRow = { event: '(other names)', category: '', format: undefined, totals: new EventTotals() };

  /** Returns the totals to which events of this kind are added. */
  totalsOf(kind: RingEventKind): EventTotals {
    const event = eventNameOf(kind);
    const category = shortCategory(kind);
    const key = `${event}\0${category}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known.totals;
    if (this.#rows.size >= MAX_ROWS) return this.#others.totals;
    const row = { event, category, format: formatOf(kind), totals: new EventTotals() };
    this.#rows.set(key, row);
    return row.totals;
  }

  /** Returns undefined without events. */
  table(): string | undefined {
    const rows = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
    const filled = [...rows, this.#others].filter(({ totals }) => totals.count > 0);
    return filled.length === 0 ? undefined : table(HEADINGS, filled.map(cellsOf));
  }
}

function cellsOf({ event, category, format, totals }: SummaryRow): string[] {
  const { p50, p90, p99, max } = percentilesOf(totals.exponential)!;
  const values = [Number(totals.sum), p50, p90, p99, max].map((value) => format?.(value) ?? UNKNOWN);
  return [oneLine(event), numberText(totals.count), ...values, category];
}

function formatOf(kind: RingEventKind): (value: number) => string {
  const unit = unitOf(kind);
  if (unit === 'us') return timeText;
  return unit === 'By' ? bytesText : numberText;
}

/** Values up to this number of events add up to less than 2^53 in each half. */
const EXACT_EVENTS = 2 ** 20;
const LOWEST_BUCKET = -1;
const BUCKETS = 64 * 2 ** TALLY_SCALE - LOWEST_BUCKET;

/** Totals of the events of one name. Millions of events per second are added. */
export class EventTotals {
  count = 0;
  #zeroCount = 0;
  readonly #counts = new Float64Array(BUCKETS);
  /** Sum without the last events, which have their own sums: of the upper and lower halves of their values. */
  #sum = 0n;
  #high = 0;
  #low = 0;

  /** Adds an event with an unsigned 64-bit value, given as two halves. */
  add(high: number, low: number): void {
    this.count++;
    if (high === 0 && low === 0) this.#zeroCount++;
    else this.#counts[bucketOf(high, low) - LOWEST_BUCKET]!++;
    this.#high += high;
    this.#low += low;
    if (this.count % EXACT_EVENTS === 0) this.#carry();
  }

  get sum(): bigint {
    this.#carry();
    return this.#sum;
  }

  get exponential(): ExponentialTally {
    return trimmed(TALLY_SCALE, this.#zeroCount, LOWEST_BUCKET, this.#counts);
  }

  #carry(): void {
    this.#sum += (BigInt(this.#high) << 32n) + BigInt(this.#low);
    this.#high = this.#low = 0;
  }
}
