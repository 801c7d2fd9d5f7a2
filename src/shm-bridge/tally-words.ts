/** Tallies that are read where they lie, in the order in which putTally() of native/addon wrote their words. */
import { type ExponentialTally, TALLY_SCALE } from '../exponential.js';
import type { AgentTally, EventTally, HistogramTally, TransferTally } from '../tally.js';
import { type RawTally, transferBounds } from './raw-tally.js';
import type { Words } from './words.js';

const NO_TYPE = 0xffff_ffff;
const NO_COUNTS = new Float64Array(0);

/** Bits of an event's flags. Above them is the index of its bounds. */
const Flag = { KNOWN: 1, OVERFLOW: 2, HISTOGRAM: 4, NAMED: 8 } as const;
const BOUNDS_SHIFT = 8;

/** Type, category and flags of an event: its key. Then its count, its sum in two words, and its last value. */
const KEY_WORDS = 3;
const VALUE_WORDS = 4;

class HistogramWords implements HistogramTally {
  readonly bounds: readonly number[];
  protected words!: Words;
  protected at = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
  }

  place(words: Words): void {
    this.words = words;
    this.at = words.skip(this.bounds.length + 3);
    words.skip(words.count());
  }

  get counts(): number[] {
    const counts = new Array<number>(this.bounds.length + 1);
    for (let i = 0; i < counts.length; i++) counts[i] = this.words.countAt(this.at + i);
    return counts;
  }

  /** Its counts are a view: an agent has some hundred buckets, which only some exporters read. */
  get exponential(): ExponentialTally {
    const { words } = this;
    const at = this.at + this.bounds.length + 1;
    const buckets = words.countAt(at + 2);
    const counts = buckets === 0 ? NO_COUNTS : words.doublesAt(at + 3, buckets);
    return { scale: TALLY_SCALE, zeroCount: words.countAt(at), offset: words.signedAt(at + 1), counts };
  }
}

class EventWords implements EventTally {
  declare readonly type?: number;
  declare readonly name?: string;
  declare readonly histogram?: HistogramWords;
  readonly category: number;
  readonly known: boolean;
  readonly overflow: boolean;
  readonly #flags: number;
  #words: Words;
  /** Index of the count. */
  #at = 0;

  /** `words`: at the key of the event. */
  constructor(words: Words, name: string | undefined, tally: RawTally) {
    const type = words.countAt(words.at);
    const flags = words.countAt(words.at + 2);
    this.category = words.signedAt(words.at + 1);
    this.known = (flags & Flag.KNOWN) !== 0;
    this.overflow = (flags & Flag.OVERFLOW) !== 0;
    if (type !== NO_TYPE) this.type = type;
    if (name !== undefined) this.name = name;
    if ((flags & Flag.HISTOGRAM) !== 0) this.histogram = new HistogramWords(tally.bounds[flags >> BOUNDS_SHIFT]!);
    this.#flags = flags;
    this.#words = words;
  }

  /** Returns whether the key of the next event is that of this one. */
  isNext(words: Words, name: string | undefined): boolean {
    return (
      words.countAt(words.at) === (this.type ?? NO_TYPE) &&
      words.signedAt(words.at + 1) === this.category &&
      words.countAt(words.at + 2) === this.#flags &&
      name === this.name
    );
  }

  place(words: Words): void {
    words.skip(KEY_WORDS);
    this.#words = words;
    this.#at = words.skip(VALUE_WORDS);
    this.histogram?.place(words);
  }

  get count(): number {
    return this.#words.countAt(this.#at);
  }

  get sum(): bigint {
    return this.#words.wideAt(this.#at + 1);
  }

  get last(): bigint {
    return this.#words.wordAt(this.#at + 3);
  }
}

/** A histogram after its sum. */
class WholeSumWords extends HistogramWords {
  override place(words: Words): void {
    words.skip(2);
    super.place(words);
  }

  get sum(): bigint {
    return this.words.wideAt(this.at - 2);
  }
}

class RealSumWords extends HistogramWords {
  override place(words: Words): void {
    words.skip(1);
    super.place(words);
  }

  get sum(): number {
    return this.words.doubleAt(this.at - 1);
  }
}

class TransferWords implements TransferTally {
  readonly size: WholeSumWords;
  readonly duration: WholeSumWords;
  readonly throughput: RealSumWords;
  #words!: Words;
  #at = 0;

  constructor(tally: RawTally) {
    this.size = new WholeSumWords(tally.sizeBounds);
    this.duration = new WholeSumWords(transferBounds(tally));
    this.throughput = new RealSumWords(tally.throughputBounds);
  }

  place(words: Words): void {
    this.#words = words;
    this.#at = words.skip(1);
    this.size.place(words);
    this.duration.place(words);
    this.throughput.place(words);
  }

  get count(): number {
    return this.#words.countAt(this.#at);
  }
}

/** Tally of one agent. place() must be called before anything is read, and again for the agent's next words. */
export class TallyWords implements AgentTally {
  readonly events: EventWords[] = [];
  readonly transfers: { readonly transmit: TransferWords; readonly receive: TransferWords };
  readonly #tally: RawTally;
  #words!: Words;
  #at = 0;

  constructor(tally: RawTally) {
    this.#tally = tally;
    this.transfers = { transmit: new TransferWords(tally), receive: new TransferWords(tally) };
  }

  /** Goes behind the words of this tally. `strings`: names of events that follow. */
  place(words: Words, strings: Iterator<string>): this {
    this.#words = words;
    this.#at = words.skip(2);
    const { events } = this;
    const number = words.count();
    events.length = Math.min(events.length, number);
    for (let i = 0; i < number; i++) {
      const isNamed = (words.countAt(words.at + 2) & Flag.NAMED) !== 0;
      const name = isNamed ? (strings.next().value as string) : undefined;
      if (events[i]?.isNext(words, name) !== true) events[i] = new EventWords(words, name, this.#tally);
      events[i]!.place(words);
    }
    this.transfers.transmit.place(words);
    this.transfers.receive.place(words);
    return this;
  }

  get memoryInUse(): bigint {
    return this.#words.wideAt(this.#at);
  }
}

/** Returns a copy that the next words do not change. It keeps the exponential counts as a view of these ones. */
export function copyOf({ memoryInUse, events, transfers: { transmit, receive } }: TallyWords): AgentTally {
  return {
    memoryInUse,
    events: events.map(copyOfEvent),
    transfers: { transmit: copyOfTransfers(transmit), receive: copyOfTransfers(receive) },
  };
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

function copyOfEvent(words: EventWords): EventTally {
  const { category, known, overflow, count, sum, last, type, name, histogram } = words;
  const event: Mutable<EventTally> = { category, known, overflow, count, sum, last };
  if (type !== undefined) event.type = type;
  if (histogram !== undefined) event.histogram = copyOfHistogram(histogram);
  if (name !== undefined) event.name = name;
  return event;
}

function copyOfHistogram({ bounds, counts, exponential }: HistogramWords): HistogramTally {
  return { bounds, counts, exponential };
}

function copyOfTransfers({ count, size, duration, throughput }: TransferWords): TransferTally {
  return { count, size: copyWithSum(size), duration: copyWithSum(duration), throughput: copyWithSum(throughput) };
}

function copyWithSum<Sum>({
  bounds,
  counts,
  exponential,
  sum,
}: HistogramWords & { readonly sum: Sum }): HistogramTally & {
  readonly sum: Sum;
} {
  return { bounds, counts, exponential, sum };
}
