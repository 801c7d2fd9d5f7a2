/** Asks for time by size: of all agents while the card is in view, of one while its panel is open. */
import { SIZES_PATH, type SizesAnswer } from '../../../view/answers/sizes-answer.js';
import type { AgentSizes } from '../../../view/sizes/direction-sizes.js';
import { fetchJson, NoSuchPath } from '../poll.js';

export interface SizesQuestion {
  readonly wantsAll: boolean;
  /** The agent of the panel. */
  readonly id: number | undefined;
}

interface LoadedSizes {
  readonly all: SizesAnswer | undefined;
  readonly one: SizesAnswer | undefined;
}

export class SizeSource {
  #all: SizesAnswer | undefined;
  #one: SizesAnswer | undefined;
  #receivedMs = 0;
  #startedMs = 0;
  /** An older serve has no time by size. */
  #isMissing = false;

  get all(): SizesAnswer | undefined {
    return this.#all;
  }

  /** Time since the last answer about all agents, milliseconds. */
  get ageMs(): number {
    return performance.now() - this.#receivedMs;
  }

  /** Returns the agent with its distributions. */
  detailOf(id: number): AgentSizes | undefined {
    return this.#one?.agents.find((agent) => agent.id === id);
  }

  async load({ wantsAll, id }: SizesQuestion, signal: AbortSignal): Promise<LoadedSizes> {
    if (this.#isMissing) return { all: undefined, one: undefined };
    const ask = (question: string): Promise<SizesAnswer> => fetchJson<SizesAnswer>(SIZES_PATH + question, signal);
    try {
      const [all, one] = await Promise.all([
        wantsAll ? ask('') : undefined,
        id === undefined ? undefined : ask(`?agent=${id}`),
      ]);
      return { all, one };
    } catch (error) {
      this.#isMissing = error instanceof NoSuchPath;
      throw error;
    }
  }

  add({ all, one }: LoadedSizes): void {
    if (all !== undefined) {
      this.#all = all;
      this.#receivedMs = performance.now();
    }
    this.#one = one;
  }

  /** Forgets what an earlier serve answered: its agents had other numbers. */
  keepOnly(startedMs: number): void {
    if (this.#all?.startedMs !== startedMs) this.#all = undefined;
    if (this.#one?.startedMs !== startedMs) this.#one = undefined;
    if (this.#startedMs !== startedMs) this.#isMissing = false;
    this.#startedMs = startedMs;
  }
}
