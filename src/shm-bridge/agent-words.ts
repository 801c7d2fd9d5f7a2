/** An agent of a snapshot that is read where it lies: what survives from snapshot to snapshot is no garbage. */
import type { AgentLife, AgentSnapshot, HistogramField, NumberField, TimeBySize, TimeModels } from '../ground/tally.js';
import type { RawTally } from './raw-tally.js';
import {
  copyOf,
  type EventWords,
  type HistogramPlaces,
  type Mutable,
  type NumberPlaces,
  TallyWords,
  WordsAt,
} from './tally-words.js';
import { AGENT_WORDS, AgentAt } from './word-table.js';
import type { Words } from './words.js';

/** In the order of the enumeration Life in native/collector/agent.h. */
const LIVES: readonly AgentLife[] = ['unknown', 'alive', 'dead'];

/** Bits of an agent's flags, as in native/addon/snapshot.cc. */
const Flag = {
  EXPORTED: 1,
  SUSPECT: 2,
  MEMORY_APPROXIMATE: 4,
  RECOVERED: 8,
  ATTRIBUTES: 16,
  SEARCHED: 32,
  SHARED: 64,
  TEXTS: 128,
} as const;

/** Returns whether texts of the agent that begins at `at` came with the words. */
export function hasTexts(words: Words, at: number): boolean {
  return (words.countAt(at + AgentAt.flags) & Flag.TEXTS) !== 0;
}

export class AgentWords implements AgentSnapshot {
  readonly id: number;
  readonly agent: string;
  readonly directory: string;
  readonly path: string;
  /** Not of the words: a feed sets it for each snapshot. */
  timeModels: TimeModels | undefined;
  #keptAttributes: string | undefined;
  readonly #base: WordsAt;
  readonly #tally: TallyWords;
  /** Made at its first use: it takes tens of microseconds. Null: to be made. */
  #timeBySize: TimeBySize | undefined | null = null;

  /** `at`: its first word. `texts`: those that came with the words. */
  constructor(words: Words, at: number, texts: Iterator<string>, tally: RawTally) {
    this.#base = new WordsAt(words, at);
    this.id = this.#count(AgentAt.id);
    this.agent = texts.next().value as string;
    this.directory = texts.next().value as string;
    this.path = texts.next().value as string;
    this.#readAttributes(texts);
    this.#tally = new TallyWords(this.#base, AGENT_WORDS.length, texts, tally);
  }

  /** Goes to further words of the same agent. `texts`: those that came with them; undefined if they are as before. */
  move(words: Words, at: number, texts: Iterator<string> | undefined): void {
    this.#base.words = words;
    this.#base.at = at;
    this.#timeBySize = null;
    if (texts === undefined) return;
    for (let i = 0; i < 3; i++) texts.next(); // name, directory, path
    this.#readAttributes(texts);
    this.#tally.extend(texts);
  }

  #readAttributes(texts: Iterator<string>): void {
    this.#keptAttributes = this.#has(Flag.ATTRIBUTES) ? (texts.next().value as string) : undefined;
  }

  /** Index of its first word in the words of its snapshot. */
  get at(): number {
    return this.#base.at;
  }

  get words(): Words {
    return this.#base.words;
  }

  get length(): number {
    return this.#count(AgentAt.words);
  }

  /** Number that changes with what is not a number: see native/addon/words.h. */
  get layout(): bigint {
    return this.#base.words.wordAt(this.#base.at + AgentAt.layout);
  }

  /** Returns where the number of a field lies, counted from `at`, as long as `layout` is the same; undefined without one. */
  numberPlaces(field: NumberField): NumberPlaces | undefined {
    if ('agent' in field) {
      if (field.agent === 'memoryInUse') return this.#tally.memoryPlaces;
      return { kind: field.agent === 'foundFullMs' ? 'double' : 'count', places: [AgentAt[field.agent]] };
    }
    const all = this.#eventsOf(field.types).map((event) => event.placesOf(field.value));
    return all[0] && { kind: all[0].kind, places: all.flatMap(({ places }) => places) };
  }

  histogramPlaces(field: HistogramField): HistogramPlaces | undefined {
    if ('measure' in field) return this.transfers[field.direction][field.measure].places;
    return this.#eventsOf(field.types)[0]?.histogram?.places;
  }

  #eventsOf(types: readonly number[]): EventWords[] {
    return types.flatMap((type) => this.events.find((event) => event.type === type) ?? []);
  }

  get wireVersion(): number {
    return this.#count(AgentAt.wireVersion);
  }
  get capacity(): number {
    return this.#count(AgentAt.capacity);
  }
  get life(): AgentLife {
    return LIVES[this.#count(AgentAt.life)]!;
  }
  get pid(): number | undefined {
    return this.#count(AgentAt.pid) || undefined;
  }
  get searched(): boolean {
    return this.#has(Flag.SEARCHED);
  }
  get startTimeMs(): number {
    return this.#double(AgentAt.startTimeMs);
  }
  get lastEventMs(): number | undefined {
    return this.#double(AgentAt.lastEventMs) || undefined;
  }
  get flushIntervalMs(): number | undefined {
    return this.#double(AgentAt.flushIntervalMs) || undefined;
  }
  get exported(): boolean {
    return this.#has(Flag.EXPORTED);
  }
  get foundAtDrain(): number {
    return this.#count(AgentAt.foundAtDrain);
  }
  get peakFound(): number {
    return this.#count(AgentAt.peakFound);
  }
  get foundFull(): number {
    return this.#count(AgentAt.foundFull);
  }
  get foundFullMs(): number {
    return this.#double(AgentAt.foundFullMs);
  }
  get restarts(): number {
    return this.#count(AgentAt.restarts);
  }
  get resyncs(): number {
    return this.#count(AgentAt.resyncs);
  }
  get foreignMoves(): number {
    return this.#count(AgentAt.foreignMoves);
  }
  get refused(): number {
    return this.#count(AgentAt.refused);
  }
  get suspect(): boolean {
    return this.#has(Flag.SUSPECT);
  }
  get shared(): boolean {
    return this.#has(Flag.SHARED);
  }
  /** Their pids are the last words. */
  get writers(): readonly number[] | undefined {
    const number = this.#count(AgentAt.writers);
    if (number === 0) return undefined;
    return Array.from({ length: number }, (_, i) => this.#count(this.length - number + i));
  }
  get memoryApproximate(): boolean {
    return this.#has(Flag.MEMORY_APPROXIMATE);
  }
  get recovered(): boolean {
    return this.#has(Flag.RECOVERED);
  }
  get keptAttributes(): string | undefined {
    return this.#keptAttributes;
  }
  get memoryInUse(): bigint {
    return this.#tally.memoryInUse;
  }
  get events(): TallyWords['events'] {
    return this.#tally.events;
  }
  get transfers(): TallyWords['transfers'] {
    return this.#tally.transfers;
  }
  get timeBySize(): TimeBySize | undefined {
    if (this.#timeBySize === null) this.#timeBySize = this.#tally.timeBySize;
    return this.#timeBySize;
  }

  #count(place: number): number {
    return this.#base.words.countAt(this.#base.at + place);
  }

  #double(place: number): number {
    return this.#base.words.doubleAt(this.#base.at + place);
  }

  #has(flag: number): boolean {
    return (this.#count(AgentAt.flags) & flag) !== 0;
  }
}

/** Returns a plain object that the next words do not change, see copyOf(). It has the fields that have a value. */
export function copyOfAgent(agent: AgentSnapshot, ownsCounts = false): AgentSnapshot {
  const { pid, flushIntervalMs, writers, lastEventMs, keptAttributes, timeModels } = agent;
  const { memoryInUse, events, transfers, timeBySize } = copyOf(agent, ownsCounts);
  const copy: Mutable<AgentSnapshot> = {
    id: agent.id,
    agent: agent.agent,
    directory: agent.directory,
    path: agent.path,
    wireVersion: agent.wireVersion,
    capacity: agent.capacity,
    life: agent.life,
    searched: agent.searched,
    startTimeMs: agent.startTimeMs,
    exported: agent.exported,
    foundAtDrain: agent.foundAtDrain,
    peakFound: agent.peakFound,
    foundFull: agent.foundFull,
    foundFullMs: agent.foundFullMs,
    restarts: agent.restarts,
    resyncs: agent.resyncs,
    foreignMoves: agent.foreignMoves,
    refused: agent.refused,
    suspect: agent.suspect,
    shared: agent.shared,
    memoryApproximate: agent.memoryApproximate,
    recovered: agent.recovered,
    memoryInUse,
    events,
    transfers,
  };
  if (timeBySize !== undefined) copy.timeBySize = timeBySize;
  if (timeModels !== undefined) copy.timeModels = timeModels;
  if (pid !== undefined) copy.pid = pid;
  if (flushIntervalMs !== undefined) copy.flushIntervalMs = flushIntervalMs;
  if (writers !== undefined) copy.writers = writers;
  if (lastEventMs !== undefined) copy.lastEventMs = lastEventMs;
  if (keptAttributes !== undefined) copy.keptAttributes = keptAttributes;
  return copy;
}
