/** Decodes the addon's words into the public snapshot. */
import { TALLY_SCALE } from '../exponential.js';
import type { AgentLife, AgentSnapshot, AgentTally, EventTally, HistogramTally, TransferTally } from '../tally.js';
import { checkVersion, type RawSnapshot, type RawTotals } from './addon.js';
import { type RawTally, transferBounds } from './raw-tally.js';
import type { PlaceStatus, Snapshot } from './types.js';

/** In the order of the enumeration Life in native/agent.h. */
const LIVES: readonly AgentLife[] = ['unknown', 'alive', 'dead'];
const NO_TYPE = 0xffff_ffff;
const NO_COUNTS = new Float64Array(0);

/** Bits of an agent's flags, as in native/addon/snapshot.cc. */
const Flag = { EXPORTED: 1, SUSPECT: 2, MEMORY_APPROXIMATE: 4, RECOVERED: 8, ATTRIBUTES: 16 } as const;

/** Reads 64-bit words in the order in which putAgent() and putTally() in native/addon wrote them. */
class WordReader {
  readonly #bigints: BigUint64Array;
  readonly #halves: Uint32Array;
  readonly #doubles: Float64Array;
  readonly #strings: Iterator<string>;
  #at = 0;

  /** @throws NixlTelemetryError ADDON_MISSING if another build wrote the words */
  constructor({ words, strings }: RawTotals) {
    this.#bigints = new BigUint64Array(words);
    this.#halves = new Uint32Array(words);
    this.#doubles = new Float64Array(words);
    this.#strings = strings[Symbol.iterator]();
    checkVersion(this.count());
  }

  /** Reads a count, a size or an id; exact to 2^53. */
  count(): number {
    const low = this.#halves[2 * this.#at] as number;
    const high = this.#halves[2 * this.#at + 1] as number;
    this.#at++;
    return high * 0x1_0000_0000 + low;
  }

  /** Reads a 32-bit number that may be negative. */
  signed(): number {
    return (this.#halves[2 * this.#at++] as number) | 0;
  }

  double(): number {
    return this.#doubles[this.#at++] as number;
  }

  word(): bigint {
    return this.#bigints[this.#at++] as bigint;
  }

  /** Reads 128 bits, low word first. */
  wide(): bigint {
    const low = this.word();
    const high = this.word();
    return high === 0n ? low : (high << 64n) | low;
  }

  histogram(bounds: readonly number[]): HistogramTally {
    const counts = new Array<number>(bounds.length + 1);
    for (let i = 0; i < counts.length; i++) counts[i] = this.count();
    const zeroCount = this.count();
    const offset = this.signed();
    const buckets = this.count();
    // A view of the words: an agent has some hundred buckets, which only some exporters read.
    const inBuckets = buckets === 0 ? NO_COUNTS : this.#doubles.subarray(this.#at, this.#at + buckets);
    this.#at += buckets;
    return { bounds, counts, exponential: { scale: TALLY_SCALE, zeroCount, offset, counts: inBuckets } };
  }

  text(): string {
    return this.#strings.next().value as string;
  }
}

/** A place of a source's options. */
export type Place = Pick<PlaceStatus, 'given' | 'path' | 'isGlob'>;

export function decodeSnapshot(raw: RawSnapshot, tally: RawTally, given: readonly Place[]): Snapshot {
  const words = new WordReader(raw);
  const agents: AgentSnapshot[] = [];
  for (let i = 0; i < raw.agents; i++) agents.push(decodeAgent(words, tally));
  const { takenMs, problems, problemCount, stateProblems, openDirectories, collector } = raw;
  const places = given.map((place, i) => ({ ...place, ...raw.places[i]! }));
  return { takenMs, agents, problems, problemCount, stateProblems, openDirectories, places, collector };
}

/** Reads all words before it makes the object: with calls or spreads in the literal, decoding takes several times as long. */
function decodeAgent(words: WordReader, tally: RawTally): AgentSnapshot {
  const agent = words.text();
  const directory = words.text();
  const path = words.text();
  const id = words.count();
  const wireVersion = words.count();
  const capacity = words.count();
  const life = LIVES[words.count()] as AgentLife;
  const pid = words.count();
  const startTimeMs = words.double();
  const lastEventMs = words.double();
  const flags = words.count();
  const foundAtDrain = words.count();
  const peakFound = words.count();
  const foundFull = words.count();
  const foundFullMs = words.double();
  const restarts = words.count();
  const resyncs = words.count();
  const foreignMoves = words.count();
  const keptAttributes = (flags & Flag.ATTRIBUTES) === 0 ? undefined : words.text();
  const { memoryInUse, events, transfers } = decodeSums(words, tally);
  const decoded: Mutable<AgentSnapshot> = {
    id,
    agent,
    directory,
    path,
    wireVersion,
    capacity,
    life,
    startTimeMs,
    exported: (flags & Flag.EXPORTED) !== 0,
    foundAtDrain,
    peakFound,
    foundFull,
    foundFullMs,
    restarts,
    resyncs,
    foreignMoves,
    suspect: (flags & Flag.SUSPECT) !== 0,
    memoryApproximate: (flags & Flag.MEMORY_APPROXIMATE) !== 0,
    recovered: (flags & Flag.RECOVERED) !== 0,
    memoryInUse,
    events,
    transfers,
  };
  if (pid !== 0) decoded.pid = pid;
  if (lastEventMs !== 0) decoded.lastEventMs = lastEventMs;
  if (keptAttributes !== undefined) decoded.keptAttributes = keptAttributes;
  return decoded;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export function decodeTally(raw: RawTotals, tally: RawTally): AgentTally {
  return decodeSums(new WordReader(raw), tally);
}

function decodeSums(words: WordReader, tally: RawTally): AgentTally {
  const memoryInUse = words.wide();
  const events: EventTally[] = [];
  for (let left = words.count(); left > 0; left--) events.push(decodeEvent(words, tally));
  const transmit = decodeTransfers(words, tally);
  const receive = decodeTransfers(words, tally);
  return { memoryInUse, events, transfers: { transmit, receive } };
}

function decodeEvent(words: WordReader, tally: RawTally): EventTally {
  const type = words.count();
  const category = words.signed();
  const flags = words.count();
  const event: Mutable<EventTally> = {
    category,
    known: (flags & 1) !== 0,
    overflow: (flags & 2) !== 0,
    count: words.count(),
    sum: words.wide(),
    last: words.word(),
  };
  if (type !== NO_TYPE) event.type = type;
  if ((flags & 4) !== 0) event.histogram = words.histogram(tally.bounds[flags >> 8]!);
  if ((flags & 8) !== 0) event.name = words.text();
  return event;
}

function decodeTransfers(words: WordReader, tally: RawTally): TransferTally {
  const count = words.count();
  const sizeSum = words.wide();
  const size = withSum(words.histogram(tally.sizeBounds), sizeSum);
  const durationSum = words.wide();
  const duration = withSum(words.histogram(transferBounds(tally)), durationSum);
  const throughputSum = words.double();
  const throughput = withSum(words.histogram(tally.throughputBounds), throughputSum);
  return { count, size, duration, throughput };
}

function withSum<Sum>(
  { bounds, counts, exponential }: HistogramTally,
  sum: Sum,
): HistogramTally & { readonly sum: Sum } {
  return { bounds, counts, exponential, sum };
}
