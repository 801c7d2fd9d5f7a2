/** Decodes the addon's words into the public snapshot. */
import type { AgentLife, AgentSnapshot, AgentTally } from '../tally.js';
import { checkVersion, type RawSnapshot, type RawTotals } from './addon.js';
import type { RawTally } from './raw-tally.js';
import { copyOf, TallyWords } from './tally-words.js';
import type { PlaceStatus, Snapshot } from './types.js';

/** In the order of the enumeration Life in native/agent.h. */
const LIVES: readonly AgentLife[] = ['unknown', 'alive', 'dead'];

/** Bits of an agent's flags, as in native/addon/snapshot.cc. */
const Flag = { EXPORTED: 1, SUSPECT: 2, MEMORY_APPROXIMATE: 4, RECOVERED: 8, ATTRIBUTES: 16 } as const;

/** 64-bit words of the addon, read one after the other or in place. */
export class Words {
  readonly buffer: ArrayBuffer;
  readonly #bigints: BigUint64Array;
  readonly #halves: Uint32Array;
  readonly #doubles: Float64Array;
  /** Index of the next word. */
  at = 0;

  constructor(buffer: ArrayBuffer) {
    this.buffer = buffer;
    this.#bigints = new BigUint64Array(buffer);
    this.#halves = new Uint32Array(buffer);
    this.#doubles = new Float64Array(buffer);
  }

  /** Goes to the first word after the version. @throws NixlTelemetryError ADDON_MISSING if another build wrote the words */
  begin(): void {
    this.at = 0;
    checkVersion(this.count());
  }

  /** Reads a count, a size or an id; exact to 2^53. */
  count(): number {
    return this.countAt(this.at++);
  }

  /** Reads a 32-bit number that may be negative. */
  signed(): number {
    return this.signedAt(this.at++);
  }

  double(): number {
    return this.doubleAt(this.at++);
  }

  /** Leaves words out. @returns the index of the first one */
  skip(words: number): number {
    this.at += words;
    return this.at - words;
  }

  countAt(at: number): number {
    return (this.#halves[2 * at + 1] as number) * 0x1_0000_0000 + (this.#halves[2 * at] as number);
  }

  signedAt(at: number): number {
    return (this.#halves[2 * at] as number) | 0;
  }

  doubleAt(at: number): number {
    return this.#doubles[at] as number;
  }

  wordAt(at: number): bigint {
    return this.#bigints[at] as bigint;
  }

  /** Reads 128 bits, low word first. */
  wideAt(at: number): bigint {
    const low = this.wordAt(at);
    const hasHigh = this.#halves[2 * at + 2] !== 0 || this.#halves[2 * at + 3] !== 0;
    return hasHigh ? (this.wordAt(at + 1) << 64n) | low : low;
  }

  /** Returns a view of words that are doubles. */
  doublesAt(at: number, length: number): Float64Array {
    return this.#doubles.subarray(at, at + length);
  }
}

/** A place of a source's options. */
export type Place = Pick<PlaceStatus, 'given' | 'path' | 'isGlob'>;

export function decodeSnapshot(raw: RawSnapshot, tally: RawTally, given: readonly Place[]): Snapshot {
  const words = new Words(raw.words);
  return decodeAgents(raw, words, given, (_, strings) => copyOf(new TallyWords(tally).place(words, strings)));
}

/** Decodes all agents, each without its tally. `tallyOf`: goes behind the words of the tally of an agent, and returns it. */
export function decodeAgents(
  raw: RawSnapshot,
  words: Words,
  given: readonly Place[],
  tallyOf: (agentId: number, strings: Iterator<string>) => AgentTally,
): Snapshot {
  words.begin();
  const strings = raw.strings.values();
  const agents: AgentSnapshot[] = [];
  for (let i = 0; i < raw.agents; i++) agents.push(decodeAgent(words, strings, tallyOf));
  const { takenMs, problems, problemCount, stateProblems, openDirectories, collector } = raw;
  const places = given.map((place, i) => ({ ...place, ...raw.places[i]! }));
  return { takenMs, agents, problems, problemCount, stateProblems, openDirectories, places, collector };
}

/** Reads all words before it makes the object: with calls or spreads in the literal, decoding takes several times as long. */
function decodeAgent(
  words: Words,
  strings: Iterator<string>,
  tallyOf: (agentId: number, strings: Iterator<string>) => AgentTally,
): AgentSnapshot {
  const text = (): string => strings.next().value as string;
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
  const foundAtDrain = words.count();
  const peakFound = words.count();
  const foundFull = words.count();
  const foundFullMs = words.double();
  const restarts = words.count();
  const resyncs = words.count();
  const foreignMoves = words.count();
  const keptAttributes = (flags & Flag.ATTRIBUTES) === 0 ? undefined : text();
  const { memoryInUse, events, transfers } = tallyOf(id, strings);
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
  const words = new Words(raw.words);
  words.begin();
  return copyOf(new TallyWords(tally).place(words, raw.strings.values()));
}
