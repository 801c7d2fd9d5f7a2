/** Long work in slices of time, between which other work has its turn. */
import { setImmediate } from 'node:timers/promises';

/** Time after which other work gets a turn. */
const SLICE_MS = 2;

export class TimeSlices {
  /** 0, because the collection that precedes the first call has used up a slice. */
  #endMs = 0;

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  /** Lets other work run and begins a slice. */
  async next(): Promise<void> {
    await setImmediate();
    this.#endMs = performance.now() + SLICE_MS;
  }
}
