/** Time between two flushes of an agent, learnt from the times at which its ring had new events, as in native/ring/flush_rhythm.h. Pure. */

const LEAST = 3;
const KEPT = 8;

export class FlushRhythm {
  #gapsMs: number[] = [];
  #lastMs: number | undefined;
  #isQuiet = true;
  /** Setting of the agent's process, which counts until the time is learnt. */
  settingMs: number | undefined;

  /** Notes an observation that found events, or none. */
  note(found: boolean, nowMs: number): void {
    if (found && this.#isQuiet) {
      if (this.#lastMs !== undefined) this.#gapsMs = [...this.#gapsMs, nowMs - this.#lastMs].slice(-KEPT);
      this.#lastMs = nowMs;
    }
    this.#isQuiet = !found;
  }

  /** Returns the second shortest of the last times: an observation may find half of a flush. Undefined while it is not known. */
  get intervalMs(): number | undefined {
    return this.#gapsMs.length < LEAST ? this.settingMs : [...this.#gapsMs].sort((a, b) => a - b)[1];
  }
}
