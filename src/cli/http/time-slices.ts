/** Long work in slices of time, between which other work has its turn. */
import { setImmediate } from 'node:timers/promises';

/** Time after which other work gets a turn. */
const SLICE_MS = 2;

export class TimeSlices {
  #endMs = performance.now() + SLICE_MS;

  /** Returns a promise if the slice is over: to be awaited before the work continues. */
  turn(): Promise<void> | undefined {
    return performance.now() < this.#endMs ? undefined : this.#next();
  }

  async #next(): Promise<void> {
    await setImmediate();
    this.#endMs = performance.now() + SLICE_MS;
  }
}
