/** Schedule of frames, without drift. A frame that would be late by an interval is left out. */
import { wholeNumber } from '../settings/shape.js';
import type { StopRequest } from '../process/stop.js';

/** Time between two frames. */
export const INTERVAL_MS = wholeNumber(100, 3_600_000);
export const DEFAULT_INTERVAL_MS = 1_000;

export class Pace {
  readonly #stop: StopRequest;
  #intervalMs: number;
  #lastMs = performance.now();
  #onChange = (): void => {};

  constructor(intervalMs: number, stop: StopRequest) {
    this.#intervalMs = intervalMs;
    this.#stop = stop;
  }

  /** Changes the interval, also of the present wait. */
  setInterval(ms: number): void {
    this.#intervalMs = ms;
    this.#lastMs = Math.max(this.#lastMs, performance.now() - ms);
    this.#onChange();
  }

  /** Waits until the next frame is due, or until a stop is requested. */
  async wait(): Promise<void> {
    for (;;) {
      const dueMs = this.#lastMs + this.#intervalMs;
      const changed = new Promise<boolean>((resolve) => {
        this.#onChange = () => resolve(true);
      });
      const wasChanged = await Promise.race([changed, this.#stop.pause(dueMs - performance.now())]);
      if (wasChanged !== true) break;
    }
    this.#lastMs = Math.max(this.#lastMs + this.#intervalMs, performance.now() - this.#intervalMs);
  }
}
