/**
 * Spreads what an agent that flushes rarely counted over the time to its next flush: its points would be 0 for a minute, and sixty
 * times its rate in the next one. No count is lost, and none comes twice. Pure.
 */
import { isSlow, LATE } from '../../view/figures/slow-flushes.js';
import type { ServedAgent } from '../../view/model/agent-model.js';
import { Counter } from './counters.js';

type Counts = readonly number[];
/** How much the counters of each agent grew; undefined if that is unknown. */
export type Growth = readonly (Counts | undefined)[];

/** Losses keep the time at which serve read of them: charts mark it. */
const isSpread = (counter: number): boolean => counter !== Counter.FULL && counter !== Counter.DROPPED;

/** Counts of one agent that belong to later times. */
export class HeldCounts {
  readonly #left: Float64Array;
  readonly #perMs: Float64Array;

  constructor(length: number) {
    this.#left = new Float64Array(length);
    this.#perMs = new Float64Array(length);
  }

  /** Returns as many zeros as there are counts. */
  none(): number[] {
    return new Array<number>(this.#left.length).fill(0);
  }

  /** Adds what a flush brought. What is left at a flush bridges a late one; with regular flushes the rate is that of one. */
  hold(place: number, count: number, flushIntervalMs: number): void {
    this.#left[place]! += count;
    this.#perMs[place] = this.#left[place]! / (LATE * flushIntervalMs);
  }

  /** Adds what belongs to the next `ms` to `counts`. Returns false if nothing is left. */
  release(counts: number[] | Float64Array, ms: number): boolean {
    let isLeft = false;
    for (let i = 0; i < this.#left.length; i++) {
      const part = Math.min(this.#left[i]!, this.#perMs[i]! * ms);
      this.#left[i]! -= part;
      counts[i]! += part;
      isLeft ||= this.#left[i]! > 0;
    }
    return isLeft;
  }
}

export class FlushSpread {
  #held = new Map<number, HeldCounts>();
  #takenMs = Infinity;

  /**
   * `growth`: that of each agent since the last call. Returns what belongs to this time. What is left of agents that are gone
   * follows.
   */
  take(takenMs: number, agents: readonly ServedAgent[], growth: Growth): Growth {
    const ms = Math.max(0, takenMs - this.#takenMs);
    this.#takenMs = takenMs;
    const before = this.#held;
    this.#held = new Map();
    const spread = agents.map(({ id, flushIntervalMs }, i) => {
      const grown = growth[i];
      const held = before.get(id);
      before.delete(id);
      if (grown === undefined || (held === undefined && !isSlow(flushIntervalMs))) return grown;
      return this.#part(id, held ?? new HeldCounts(grown.length), ms, grown, flushIntervalMs);
    });
    for (const [id, held] of before) spread.push(this.#part(id, held, ms, held.none()));
    return spread;
  }

  #part(id: number, held: HeldCounts, ms: number, grown: Counts, flushIntervalMs?: number): Counts {
    const part = grown.map((count, i) => {
      if (count === 0 || !isSlow(flushIntervalMs) || !isSpread(i)) return count;
      held.hold(i, count, flushIntervalMs);
      return 0;
    });
    if (held.release(part, ms)) this.#held.set(id, held);
    return part;
  }
}
