/** Sampling that keeps the recording of events within a budget of main-thread time. */
import { DEFAULT_DURATION_BUDGET_MS } from '../../settings/option-rows.js';

/** Share of the budget for new events. The rest is for queued events. */
const USABLE_SHARE = 0.7;
/** Sampling is loosened only after this many quiet windows in a row, because rates come in bursts. */
const QUIET_WINDOWS = 8;

interface SamplingWindow {
  /** Events of this window, recorded or not. */
  readonly seen: number;
  readonly elapsedMs: number;
  /** Measured time to record one event, milliseconds. */
  readonly costMs: number;
}

/** Controls "one in n": rises at once, falls after a delay. */
export class SamplingControl {
  readonly #budgetMs: number;
  #oneIn = 1;
  #quietWindows = 0;
  #recentlyNeeded = 1;

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
    this.#recentlyNeeded = Math.max(this.#recentlyNeeded, needed);
    if (++this.#quietWindows >= QUIET_WINDOWS) {
      this.#oneIn = this.#recentlyNeeded;
      this.#startQuiet();
    }
    return this.#oneIn;
  }

  #startQuiet(): void {
    this.#quietWindows = 0;
    this.#recentlyNeeded = 1;
  }
}

/** Remaining time of a budget: refills at the budget's rate up to the budget of one second. */
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
