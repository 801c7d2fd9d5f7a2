/** Decodes the addon's words into the public snapshot. */
import type { AgentSnapshot, AgentTally } from '../ground/tally.js';
import type { Steps } from '../ground/time-slices.js';
import type { RawSnapshot, RawTotals } from './addon.js';
import { AgentWords, copyOfAgent } from './agent-words.js';
import type { RawTally } from './raw-tally.js';
import { copyOf, TallyWords, WordsAt } from './tally-words.js';
import type { PlaceStatus, Snapshot } from './types.js';
import { Words } from './words.js';

/** A place of a source's options. */
export type Place = Pick<PlaceStatus, 'given' | 'path' | 'isGlob'>;

/** Requires: all texts are in the snapshot. */
export function* decodeSnapshot(raw: RawSnapshot, tally: RawTally, given: readonly Place[]): Steps<Snapshot> {
  const words = new Words(raw.words);
  const texts = raw.strings.values();
  const agents: AgentSnapshot[] = [];
  for (let at = words.begin(); agents.length < raw.agents; yield) {
    const agent = new AgentWords(words, at, texts, tally);
    agents.push(copyOfAgent(agent));
    at += agent.length;
  }
  return snapshotOf(raw, agents, given);
}

/** Adds what is not in the words. */
export function snapshotOf(raw: RawSnapshot, agents: AgentSnapshot[], given: readonly Place[]): Snapshot {
  const { takenMs, problems, problemCount, stateProblems, stateLosses, openDirectories, collector } = raw;
  const places = given.map((place, i) => ({ ...place, ...raw.places[i]! }));
  return { takenMs, agents, problems, problemCount, stateProblems, stateLosses, openDirectories, places, collector };
}

export function decodeTally(raw: RawTotals, tally: RawTally): AgentTally {
  const words = new Words(raw.words);
  return copyOf(new TallyWords(new WordsAt(words, words.begin()), 0, raw.strings.values(), tally));
}
