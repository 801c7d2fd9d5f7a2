/** Listeners for what is found about the speed of transfers. */
import { slowFindings } from '../../view/verdict/slow-findings.js';
import type { SlowFact } from '../../view/slowness/slow-facts.js';

/** Slower transfers or posts of agents, for the same reason. */
export interface SlowFinding {
  /** The first two mean an alarm: the same bytes move slower. The others are worth a note. */
  readonly kind: SlowFact['kind'];
  readonly agents: readonly string[];
  readonly sinceMs: number;
  /** How many times as long as usual. */
  readonly factor: number;
  /** What is found and why, without an end stop. */
  readonly sentence: string;
  /** Absent if there is nothing to do. */
  readonly advice?: string;
}

/** Gets all that is found now, after each change: something is found, concerns other agents, or has ended. */
export type SlowListener = (findings: readonly SlowFinding[]) => void;

export class SlowListeners {
  readonly #listeners = new Set<SlowListener>();
  readonly #onFailure: (error: unknown) => void;
  #said = '';

  /** `onFailure`: takes what a listener throws. */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  add(listener: SlowListener): void {
    this.#listeners.add(listener);
  }

  remove(listener: SlowListener): void {
    this.#listeners.delete(listener);
  }

  /** Takes the facts of a judgement. */
  take(takenMs: number, slowness: readonly SlowFact[]): void {
    if (this.#listeners.size === 0) return;
    const said = slowness
      .map(({ kind, id, direction }) => `${kind} ${id} ${direction}`)
      .sort()
      .join();
    if (said === this.#said) return;
    this.#said = said;
    const names = new Map(slowness.map(({ id, name }) => [id, name]));
    const findings = slowFindings({ slowness, takenMs }).map(({ kind, agents, sinceMs, size, sentence, advice }) => ({
      kind: kind as SlowFact['kind'],
      agents: agents.map((id) => names.get(id)!),
      sinceMs: sinceMs!,
      factor: size!.value,
      sentence,
      ...(advice !== undefined && { advice }),
    }));
    for (const listener of this.#listeners) {
      try {
        listener(findings);
      } catch (error) {
        this.#onFailure(error);
      }
    }
  }
}
