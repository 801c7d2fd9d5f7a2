/** Decodes the addon's words into the public snapshot. */
import type { AgentLife, AgentSnapshot, AgentTally } from '../tally.js';
import type { Steps } from '../time-slices.js';
import type { RawSnapshot, RawTotals } from './addon.js';
import type { RawTally } from './raw-tally.js';
import { copyOf, TallyWords } from './tally-words.js';
import type { PlaceStatus, Snapshot } from './types.js';
import { Words } from './words.js';

/** In the order of the enumeration Life in native/agent.h. */
const LIVES: readonly AgentLife[] = ['unknown', 'alive', 'dead'];

/** Bits of an agent's flags, as in native/addon/snapshot.cc. */
const Flag = { EXPORTED: 1, SUSPECT: 2, MEMORY_APPROXIMATE: 4, RECOVERED: 8, ATTRIBUTES: 16, SEARCHED: 32 } as const;

/** A place of a source's options. */
export type Place = Pick<PlaceStatus, 'given' | 'path' | 'isGlob'>;

export function* decodeSnapshot(raw: RawSnapshot, tally: RawTally, given: readonly Place[]): Steps<Snapshot> {
  const words = new Words(raw.words);
  const agents: AgentSnapshot[] = [];
  for (const agent of decodeAgents(raw, words, (_, strings) => copyOf(new TallyWords(tally).place(words, strings)))) {
    agents.push(agent);
    yield;
  }
  return snapshotOf(raw, agents, given);
}

/** Decodes each agent without its tally. `tallyOf`: goes behind the words of the tally of an agent, and returns it. */
export function* decodeAgents(
  raw: RawSnapshot,
  words: Words,
  tallyOf: (agentId: number, strings: Iterator<string>) => AgentTally,
): Generator<AgentSnapshot, void, undefined> {
  words.begin();
  const strings = raw.strings.values();
  for (let i = 0; i < raw.agents; i++) yield decodeAgent(words, strings, tallyOf);
}

/** Adds what is not in the words. */
export function snapshotOf(raw: RawSnapshot, agents: AgentSnapshot[], given: readonly Place[]): Snapshot {
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
    searched: (flags & Flag.SEARCHED) !== 0,
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
