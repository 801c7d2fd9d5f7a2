import type { RawSnapshot, RawSums } from './addon.js';
import { type RawTally, transferBounds } from './raw-tally.js';
import type {
  AgentLife,
  AgentSnapshot,
  EventTally,
  HistogramTally,
  ObservedTally,
  PlaceStatus,
  Snapshot,
  TransferTally,
} from './types.js';

const LIVES: readonly AgentLife[] = ['unknown', 'alive', 'dead'];
const NO_TYPE = 0xffff_ffff;

/** Reads the addon's 64-bit words one after another, as putAgent() and putTally() in native/addon wrote them. */
class WordReader {
  readonly #bigints: BigUint64Array;
  readonly #halves: Uint32Array;
  readonly #doubles: Float64Array;
  #at = 0;

  constructor(words: ArrayBuffer) {
    this.#bigints = new BigUint64Array(words);
    this.#halves = new Uint32Array(words);
    this.#doubles = new Float64Array(words);
  }

  /** Exact to 2^53: counts, sizes and ids. */
  count(): number {
    const low = this.#halves[2 * this.#at] as number;
    const high = this.#halves[2 * this.#at + 1] as number;
    this.#at++;
    return high * 0x1_0000_0000 + low;
  }

  /** A small number that may be negative. */
  signed(): number {
    return (this.#halves[2 * this.#at++] as number) | 0;
  }

  double(): number {
    return this.#doubles[this.#at++] as number;
  }

  word(): bigint {
    return this.#bigints[this.#at++] as bigint;
  }

  /** 128 bits, low word first. */
  wide(): bigint {
    const low = this.word();
    const high = this.word();
    return high === 0n ? low : (high << 64n) | low;
  }

  histogram(bounds: readonly number[]): HistogramTally {
    const counts = new Array<number>(bounds.length + 1);
    for (let i = 0; i < counts.length; i++) counts[i] = this.count();
    return { bounds, counts };
  }
}

/** A place of a source's options. */
export type Place = Pick<PlaceStatus, 'given' | 'path' | 'isGlob'>;

/** Turns what the addon handed over into the public snapshot. */
export function decodeSnapshot(raw: RawSnapshot, tally: RawTally, given: readonly Place[]): Snapshot {
  const words = new WordReader(raw.words);
  const strings = raw.strings[Symbol.iterator]();
  const text = () => strings.next().value as string;
  const agents: AgentSnapshot[] = [];
  for (let i = 0; i < raw.agents; i++) agents.push(decodeAgent(words, text, tally));
  const { takenMs, problems, problemCount, openDirectories, collector } = raw;
  const places = given.map((place, i) => ({ ...place, ...raw.places[i]! }));
  return { takenMs, agents, problems, problemCount, openDirectories, places, collector };
}

function decodeAgent(words: WordReader, text: () => string, tally: RawTally): AgentSnapshot {
  const agent = text();
  const directory = text();
  const path = text();
  const id = words.count();
  const wireVersion = words.count();
  const capacity = words.count();
  const life = LIVES[words.count()] as AgentLife;
  const pid = words.count();
  const startTimeMs = words.double();
  const lastEventMs = words.double();
  const flags = words.count();
  const pending = words.count();
  const peakPending = words.count();
  const foundFull = words.count();
  const foundFullMs = words.double();
  const restarts = words.count();
  const resyncs = words.count();
  const foreignMoves = words.count();
  return {
    id,
    agent,
    directory,
    path,
    wireVersion,
    capacity,
    life,
    ...(pid === 0 ? {} : { pid }),
    startTimeMs,
    ...(lastEventMs === 0 ? {} : { lastEventMs }),
    exported: (flags & 1) !== 0,
    pending,
    peakPending,
    foundFull,
    foundFullMs,
    restarts,
    resyncs,
    foreignMoves,
    suspect: (flags & 2) !== 0,
    memoryApproximate: (flags & 4) !== 0,
    ...decodeSums(words, text, tally),
  };
}

/** What the addon handed over of one tally alone. */
export function decodeTally(raw: RawSums, tally: RawTally): ObservedTally {
  const strings = raw.strings[Symbol.iterator]();
  return decodeSums(new WordReader(raw.words), () => strings.next().value as string, tally);
}

function decodeSums(words: WordReader, text: () => string, tally: RawTally): ObservedTally {
  const memoryInUse = words.wide();
  const events: EventTally[] = [];
  for (let left = words.count(); left > 0; left--) events.push(decodeEvent(words, text, tally));
  const transmit = decodeTransfers(words, tally);
  const receive = decodeTransfers(words, tally);
  return { memoryInUse, events, transfers: { transmit, receive } };
}

function decodeEvent(words: WordReader, text: () => string, tally: RawTally): EventTally {
  const type = words.count();
  const category = words.signed();
  const flags = words.count();
  const count = words.count();
  const sum = words.wide();
  const last = words.word();
  const event: EventTally = {
    category,
    known: (flags & 1) !== 0,
    overflow: (flags & 2) !== 0,
    count,
    sum,
    last,
  };
  if (type !== NO_TYPE) event.type = type;
  if ((flags & 4) !== 0) event.histogram = words.histogram(tally.bounds[flags >> 8]!);
  if ((flags & 8) !== 0) event.name = text();
  return event;
}

function decodeTransfers(words: WordReader, tally: RawTally): TransferTally {
  const count = words.count();
  const sizeSum = words.wide();
  const size = { ...words.histogram(tally.sizeBounds), sum: sizeSum };
  const durationSum = words.wide();
  const duration = { ...words.histogram(transferBounds(tally)), sum: durationSum };
  const throughputSum = words.double();
  const throughput = { ...words.histogram(tally.throughputBounds), sum: throughputSum };
  return { count, size, duration, throughput };
}
