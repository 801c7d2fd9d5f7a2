/** Tallies that are read where they lie, in words that native/addon wrote in the order of word-table.ts. */
import { type ExponentialTally, TALLY_SCALE } from '../ground/exponential.js';
import type {
  AgentTally,
  DirectionTimes,
  EventTally,
  EventValue,
  HistogramTally,
  TimeBySize,
  TimesOfClass,
  TransferTally,
} from '../ground/tally.js';
import { type RawTally, transferBounds } from './raw-tally.js';
import { timeBySizeAt } from './size-class-words.js';
import { EVENT_WORDS, EventAt, HISTOGRAM_WORDS, HistogramAt, TALLY_WORDS, TallyAt } from './word-table.js';
import type { Words } from './words.js';

const NO_COUNTS = new Float64Array(0);

/** Bits of an event's flags. Above them is the index of its bounds. */
const Flag = { KNOWN: 1, OVERFLOW: 2, HISTOGRAM: 4, NAMED: 8 } as const;
const BOUNDS_SHIFT = 8;

/** Words that numbers are read from. They are replaced by each snapshot; places in them, counted from `at`, stay. */
export class WordsAt {
  words: Words;
  at: number;

  constructor(words: Words, at: number) {
    this.words = words;
    this.at = at;
  }
}

/** Places of a number: the sum of the numbers at these places. `wide`: of two words. */
export interface NumberPlaces {
  readonly kind: 'count' | 'wide' | 'double';
  readonly places: readonly number[];
}

/** Places of a histogram. `counts`: the first of its counts, behind which is the word `start`. */
export interface HistogramPlaces {
  readonly bounds: readonly number[];
  readonly counts: number;
  readonly sum: NumberPlaces;
  readonly startTimeMs: number | undefined;
}

abstract class HistogramWords implements HistogramTally {
  readonly bounds: readonly number[];
  protected readonly base: WordsAt;
  protected readonly at: number;

  /** `at`: place of its first count. */
  constructor(base: WordsAt, at: number, bounds: readonly number[]) {
    this.base = base;
    this.at = at;
    this.bounds = bounds;
  }

  /** Place behind it. */
  get end(): number {
    return this.at + this.bounds.length + 1 + HISTOGRAM_WORDS.length;
  }

  get counts(): number[] {
    const { words, at } = this.base;
    const counts = new Array<number>(this.bounds.length + 1);
    for (let i = 0; i < counts.length; i++) counts[i] = words.countAt(at + this.at + i);
    return counts;
  }

  get startTimeMs(): number | undefined {
    const ms = this.base.words.doubleAt(this.base.at + this.at + this.bounds.length + 1 + HistogramAt.start);
    return ms === 0 ? undefined : ms;
  }

  /** Its counts are a view: an agent has some hundred buckets, which only some exporters read. */
  get exponential(): ExponentialTally {
    const { words, at: base } = this.base;
    const at = base + this.at + this.bounds.length + 1;
    const buckets = words.countAt(at + HistogramAt.buckets);
    const counts = buckets === 0 ? NO_COUNTS : words.doublesAt(at + words.countAt(at + HistogramAt.distance), buckets);
    const zeroCount = words.countAt(at + HistogramAt.zeros);
    return { scale: TALLY_SCALE, zeroCount, offset: words.signedAt(at + HistogramAt.first), counts };
  }

  abstract readonly sumPlaces: NumberPlaces;

  get places(): HistogramPlaces {
    return { bounds: this.bounds, counts: this.at, sum: this.sumPlaces, startTimeMs: this.startTimeMs };
  }
}

/** A histogram after its sum, a whole number of two words. */
class WholeSumWords extends HistogramWords {
  get sum(): bigint {
    return this.base.words.wideAt(this.base.at + this.at - 2);
  }

  get sumPlaces(): NumberPlaces {
    return { kind: 'wide', places: [this.at - 2] };
  }
}

/** A histogram after its sum, a double. */
class RealSumWords extends HistogramWords {
  get sum(): number {
    return this.base.words.doubleAt(this.base.at + this.at - 1);
  }

  get sumPlaces(): NumberPlaces {
    return { kind: 'double', places: [this.at - 1] };
  }
}

export class EventWords implements EventTally {
  declare readonly type?: number;
  declare readonly name?: string;
  declare readonly histogram?: WholeSumWords;
  readonly category: number;
  readonly known: boolean;
  readonly overflow: boolean;
  readonly #base: WordsAt;
  readonly #at: number;

  constructor(base: WordsAt, at: number, names: Iterator<string>, tally: RawTally) {
    const { words } = base;
    const first = base.at + at;
    const flags = words.countAt(first + EventAt.flags);
    this.category = words.signedAt(first + EventAt.category);
    this.known = (flags & Flag.KNOWN) !== 0;
    this.overflow = (flags & Flag.OVERFLOW) !== 0;
    if ((flags & (Flag.NAMED | Flag.OVERFLOW)) === 0) this.type = words.countAt(first + EventAt.type);
    if ((flags & Flag.NAMED) !== 0) this.name = names.next().value as string;
    if ((flags & Flag.HISTOGRAM) !== 0) {
      this.histogram = new WholeSumWords(base, at + EVENT_WORDS.length + 2, tally.bounds[flags >> BOUNDS_SHIFT]!);
    }
    this.#base = base;
    this.#at = at;
  }

  /** Place behind it. */
  get end(): number {
    return this.histogram?.end ?? this.#at + EVENT_WORDS.length;
  }

  get count(): number {
    return this.#base.words.countAt(this.#base.at + this.#at + EventAt.count);
  }

  get sum(): bigint {
    return this.#base.words.wideAt(this.#base.at + this.#at + EventAt.sum);
  }

  get last(): bigint {
    return this.#base.words.wordAt(this.#base.at + this.#at + EventAt.last);
  }

  placesOf(value: Exclude<EventValue, 'histogram'>): NumberPlaces {
    return { kind: value === 'sum' ? 'wide' : 'count', places: [this.#at + EventAt[value]] };
  }
}

export class TransferWords implements TransferTally {
  readonly size: WholeSumWords;
  readonly duration: WholeSumWords;
  readonly throughput: RealSumWords;
  readonly #base: WordsAt;
  readonly #at: number;

  constructor(base: WordsAt, at: number, tally: RawTally) {
    this.#base = base;
    this.#at = at;
    this.size = new WholeSumWords(base, at + 1 + 2, tally.sizeBounds);
    this.duration = new WholeSumWords(base, this.size.end + 2, transferBounds(tally));
    this.throughput = new RealSumWords(base, this.duration.end + 1, tally.throughputBounds);
  }

  /** Place behind it. */
  get end(): number {
    return this.throughput.end;
  }

  get count(): number {
    return this.#base.words.countAt(this.#base.at + this.#at);
  }
}

export class TallyWords implements AgentTally {
  readonly events: EventWords[] = [];
  readonly #base: WordsAt;
  readonly #at: number;
  readonly #tally: RawTally;
  #transfers!: { readonly transmit: TransferWords; readonly receive: TransferWords };

  /** `at`: its place. `names`: of its events with one. */
  constructor(base: WordsAt, at: number, names: Iterator<string>, tally: RawTally) {
    this.#base = base;
    this.#at = at;
    this.#tally = tally;
    this.extend(names);
  }

  /** Adds events that further words have: a tally never loses one, and none changes its place. `names`: of all of them. */
  extend(names: Iterator<string>): void {
    const { events } = this;
    const number = this.#base.words.countAt(this.#base.at + this.#at + TallyAt.events);
    let end = this.#at + TALLY_WORDS.length;
    for (const event of events) {
      if (event.name !== undefined) names.next();
      end = event.end;
    }
    while (events.length < number) {
      const event = new EventWords(this.#base, end, names, this.#tally);
      events.push(event);
      end = event.end;
    }
    const transmit = new TransferWords(this.#base, end, this.#tally);
    this.#transfers = { transmit, receive: new TransferWords(this.#base, transmit.end, this.#tally) };
  }

  get transfers(): { readonly transmit: TransferWords; readonly receive: TransferWords } {
    return this.#transfers;
  }

  get memoryInUse(): bigint {
    return this.#base.words.wideAt(this.#base.at + this.#at + TallyAt.memoryInUse);
  }

  get timeBySize(): TimeBySize | undefined {
    const { words, at } = this.#base;
    const distance = words.countAt(at + this.#at + TallyAt.sizeClasses);
    return distance === 0 ? undefined : timeBySizeAt(words, at + this.#at + distance);
  }

  get memoryPlaces(): NumberPlaces {
    return { kind: 'wide', places: [this.#at + TallyAt.memoryInUse] };
  }
}

/**
 * Returns a copy that the next words do not change. Its exponential counts are a view of these words, which keeps them in memory;
 * `ownsCounts`: a copy.
 */
export function copyOf(tally: AgentTally, ownsCounts = false): AgentTally {
  const { memoryInUse, events, transfers, timeBySize } = tally;
  const copyOfTransfers = ({ count, size, duration, throughput }: TransferTally): TransferTally => ({
    count,
    size: copyWithSum(size, ownsCounts),
    duration: copyWithSum(duration, ownsCounts),
    throughput: copyWithSum(throughput, ownsCounts),
  });
  const copy: AgentTally = {
    memoryInUse,
    events: events.map((event) => copyOfEvent(event, ownsCounts)),
    transfers: { transmit: copyOfTransfers(transfers.transmit), receive: copyOfTransfers(transfers.receive) },
  };
  if (timeBySize === undefined) return copy;
  return { ...copy, timeBySize: ownsCounts ? withOwnCounts(timeBySize) : timeBySize };
}

function withOwnCounts({ transmit, receive }: TimeBySize): TimeBySize {
  const times = ({ sum, exponential }: TimesOfClass): TimesOfClass => ({
    sum,
    exponential: { ...exponential, counts: Float64Array.from(exponential.counts) },
  });
  const direction = (of: DirectionTimes): DirectionTimes => ({
    ...of,
    classes: of.classes.map((one) => ({ ...one, duration: times(one.duration), post: times(one.post) })),
  });
  return { transmit: direction(transmit), receive: direction(receive) };
}

export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

function copyOfEvent(words: EventTally, ownsCounts: boolean): EventTally {
  const { category, known, overflow, count, sum, last, type, name, histogram } = words;
  const event: Mutable<EventTally> = { category, known, overflow, count, sum, last };
  if (type !== undefined) event.type = type;
  if (histogram !== undefined) event.histogram = copyWithSum(histogram, ownsCounts);
  if (name !== undefined) event.name = name;
  return event;
}

function copyWithSum<Sum>(
  words: HistogramTally & { readonly sum: Sum },
  ownsCounts: boolean,
): HistogramTally & { readonly sum: Sum } {
  const { bounds, counts, exponential: view, sum, startTimeMs } = words;
  const exponential = ownsCounts ? { ...view, counts: Float64Array.from(view.counts) } : view;
  return startTimeMs === undefined
    ? { bounds, counts, exponential, sum }
    : { bounds, counts, exponential, sum, startTimeMs };
}
