/** A snapshot that is updated in place: without it, each scrape would leave megabytes to the garbage collector. */
import type { Steps } from '../ground/time-slices.js';
import type { RawSnapshot } from './addon.js';
import { AgentWords, hasTexts } from './agent-words.js';
import type { RawTally } from './raw-tally.js';
import { type Place, snapshotOf } from './snapshot.js';
import type { Snapshot } from './types.js';
import { AgentAt } from './word-table.js';
import { Words } from './words.js';

/** Room for words above those of the last snapshot. */
const SPARE = 1.25;

/**
 * Snapshots in the same objects and memory. The agents of a snapshot are valid until the next decode(), its exponential counts,
 * which lie in the words, until the decode() after that. Therefore it has one user, which keeps no snapshot, and copies agents
 * with copyOfAgent().
 */
export class KeptSnapshot {
  /** Undefined before the first snapshot. */
  last: Snapshot | undefined;
  /** Words of the last snapshot, and of the one before. A snapshot that fails half-way must not change the last one. */
  #words = new Words(new ArrayBuffer(0));
  #spare = this.#words;
  #usedBytes = 0;
  #agents = new Map<number, AgentWords>();

  /** Returns memory for the words of the next snapshot. */
  room(): ArrayBuffer {
    const { byteLength } = this.#spare.buffer;
    const isRight = byteLength >= this.#usedBytes && byteLength <= 2 * SPARE * this.#usedBytes;
    if (!isRight) this.#spare = new Words(new ArrayBuffer(8 * Math.ceil((SPARE * this.#usedBytes) / 8)));
    return this.#spare.buffer;
  }

  /** Returns id and layout of each agent of the last snapshot: the next one leaves its texts out as long as both are the same. */
  known(): BigUint64Array {
    const known = new BigUint64Array(2 * this.#agents.size);
    let next = 0;
    for (const { id, layout } of this.#agents.values()) {
      known[next++] = BigInt(id);
      known[next++] = layout;
    }
    return known;
  }

  /** Requires: no other snapshot is begun before its end. */
  *decode(raw: RawSnapshot, tally: RawTally, given: readonly Place[]): Steps<Snapshot> {
    const words = raw.words === this.#spare.buffer ? this.#spare : new Words(raw.words);
    if (this.last !== undefined && this.#isOfLast(raw)) {
      return (this.last = snapshotOf(raw, this.last.agents, given));
    }
    const texts = raw.strings.values();
    const agents: AgentWords[] = [];
    let at = words.begin();
    for (; agents.length < raw.agents; yield) {
      let agent = this.#agents.get(words.countAt(at + AgentAt.id));
      if (agent === undefined) agent = new AgentWords(words, at, texts, tally);
      else agent.move(words, at, hasTexts(words, at) ? texts : undefined);
      agents.push(agent);
      at += agent.length;
    }
    this.last = snapshotOf(raw, agents, given);
    this.#agents = new Map(agents.map((agent) => [agent.id, agent]));
    this.#spare = this.#words;
    this.#words = words;
    this.#usedBytes = 8 * at;
    return this.last;
  }

  /** True if no agent has changed: then `agents` is the same array. */
  #isOfLast({ agents, words, strings }: RawSnapshot): boolean {
    if (agents !== this.last!.agents.length || strings.length > 0 || words.byteLength < this.#usedBytes) return false;
    const [now, before] = [words, this.#words.buffer].map((buffer) => Buffer.from(buffer, 0, this.#usedBytes));
    return now!.equals(before!);
  }
}
