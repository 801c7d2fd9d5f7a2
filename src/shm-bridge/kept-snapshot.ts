/** A snapshot that is updated in place: without it, each scrape would leave megabytes to the garbage collector. */
import { madeOnce } from '../maps.js';
import type { AgentSnapshot } from '../tally.js';
import type { Steps } from '../time-slices.js';
import type { RawSnapshot } from './addon.js';
import type { RawTally } from './raw-tally.js';
import { decodeAgents, type Place, snapshotOf } from './snapshot.js';
import { TallyWords } from './tally-words.js';
import type { Snapshot } from './types.js';
import { Words } from './words.js';

/** Room for words above those of the last snapshot. */
const SPARE = 1.25;

/**
 * Snapshots in the same objects and memory. The tallies of a snapshot are valid until the next decode(). Its exponential counts,
 * which lie in the words, are valid until the decode() after that. Therefore it has one user, which keeps no snapshot.
 */
export class KeptSnapshot {
  /** Undefined before the first snapshot. */
  last: Snapshot | undefined;
  /** Words of the last snapshot, and of the one before. A snapshot that fails half-way must not change the last one. */
  #words = new Words(new ArrayBuffer(0));
  #spare = this.#words;
  #usedBytes = 0;
  #strings: readonly string[] = [];
  readonly #agents = new Map<number, KeptAgent>();

  /** Returns memory for the words of the next snapshot. */
  room(): ArrayBuffer {
    const { byteLength } = this.#spare.buffer;
    const isRight = byteLength >= this.#usedBytes && byteLength <= 2 * SPARE * this.#usedBytes;
    if (!isRight) this.#spare = new Words(new ArrayBuffer(8 * Math.ceil((SPARE * this.#usedBytes) / 8)));
    return this.#spare.buffer;
  }

  /** Requires: no other snapshot is begun before its end. */
  *decode(raw: RawSnapshot, tally: RawTally, given: readonly Place[]): Steps<Snapshot> {
    const words = raw.words === this.#spare.buffer ? this.#spare : new Words(raw.words);
    if (this.last !== undefined && this.#isOfLast(raw)) return (this.last = snapshotOf(raw, this.last.agents, given));
    const agents: AgentSnapshot[] = [];
    const found = decodeAgents(raw, words, (id, strings) => {
      const { tallyWords } = madeOnce(this.#agents, id, () => ({ tallyWords: new TallyWords(tally) }));
      return tallyWords.place(words, strings);
    });
    for (const agent of found) {
      agents.push(this.#updated(agent));
      yield;
    }
    this.last = snapshotOf(raw, agents, given);
    if (this.#agents.size > agents.length) this.#forgetAllBut(agents);
    this.#spare = this.#words;
    this.#words = words;
    this.#usedBytes = 8 * words.at;
    this.#strings = raw.strings;
    return this.last;
  }

  /** True if no agent has changed: then `agents` is the same array. */
  #isOfLast({ agents, words, strings }: RawSnapshot): boolean {
    if (agents !== this.last!.agents.length || strings.length !== this.#strings.length) return false;
    if (strings.some((text, i) => text !== this.#strings[i]) || words.byteLength < this.#usedBytes) return false;
    const [now, before] = [words, this.#words.buffer].map((buffer) => Buffer.from(buffer, 0, this.#usedBytes));
    return now!.equals(before!);
  }

  /** Keeps the object of the last snapshot, with all that is equal: what survives a scrape is old for the garbage collector. */
  #updated(now: AgentSnapshot): AgentSnapshot {
    const kept = this.#agents.get(now.id)!;
    if (kept.agent === undefined || !hasKeysOf(kept.agent, now)) kept.agent = now;
    else update(kept.agent, now);
    return kept.agent;
  }

  #forgetAllBut(agents: readonly AgentSnapshot[]): void {
    const ids = new Set(agents.map(({ id }) => id));
    for (const id of this.#agents.keys()) if (!ids.has(id)) this.#agents.delete(id);
  }
}

interface KeptAgent {
  readonly tallyWords: TallyWords;
  agent?: AgentSnapshot;
}

function hasKeysOf(a: AgentSnapshot, b: AgentSnapshot): boolean {
  return Object.keys(a).length === Object.keys(b).length && Object.keys(b).every((key) => key in a);
}

function update<T extends object>(kept: T, now: T): void {
  for (const key of Object.keys(now) as (keyof T)[]) if (kept[key] !== now[key]) kept[key] = now[key];
}
