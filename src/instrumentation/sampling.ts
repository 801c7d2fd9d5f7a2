/** How many events to pass over so that recording the rest stays within a budget of main-thread time. */
import { DEFAULT_DURATION_BUDGET_MS } from '../settings/option-rows.js';

/** The rest of the budget works off what has queued up. */
const USABLE_SHARE = 0.7;
/** Sampling is given up or loosened only after this many quiet windows in a row: rates come in bursts. */
const QUIET_WINDOWS = 8;

export interface SamplingWindow {
  /** Events that came up in this window, recorded or not. */
  readonly seen: number;
  readonly elapsedMs: number;
  /** Measured, milliseconds to record one event. */
  readonly costMs: number;
}

/** Decides on "one in n": up at once, down only after a while. */
export class SamplingControl {
  readonly #budgetMs: number;
  #oneIn = 1;
  #quietWindows = 0;
  #neededLately = 1;

  /** `budgetMs`: per second. */
  constructor(budgetMs = DEFAULT_DURATION_BUDGET_MS) {
    this.#budgetMs = budgetMs;
  }

  get oneIn(): number {
    return this.#oneIn;
  }

  /** Returns the n to use from now on. */
  update({ seen, elapsedMs, costMs }: SamplingWindow): number {
    const perSecond = (seen * 1000) / elapsedMs;
    const needed = Math.max(1, Math.ceil((perSecond * costMs) / (this.#budgetMs * USABLE_SHARE)));
    if (needed >= this.#oneIn) {
      this.#oneIn = needed;
      this.#startQuiet();
      return needed;
    }
    this.#neededLately = Math.max(this.#neededLately, needed);
    if (++this.#quietWindows >= QUIET_WINDOWS) {
      this.#oneIn = this.#neededLately;
      this.#startQuiet();
    }
    return this.#oneIn;
  }

  #startQuiet(): void {
    this.#quietWindows = 0;
    this.#neededLately = 1;
  }
}

/** Time that may still be spent: fills up by the budget's rate, to at most one second's worth. */
export class TimeBudget {
  readonly #budgetMs: number;
  #leftMs: number;
  #filledAtMs: number;

  /** `budgetMs`: per second. */
  constructor(nowMs: number, budgetMs = DEFAULT_DURATION_BUDGET_MS) {
    this.#budgetMs = this.#leftMs = budgetMs;
    this.#filledAtMs = nowMs;
  }

  left(nowMs: number): number {
    const filled = ((nowMs - this.#filledAtMs) * this.#budgetMs) / 1000;
    this.#filledAtMs = nowMs;
    this.#leftMs = Math.min(this.#budgetMs, this.#leftMs + filled);
    return this.#leftMs;
  }

  spend(ms: number): void {
    this.#leftMs -= ms;
  }
}
