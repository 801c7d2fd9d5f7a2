/** One turn per interval, without drifting; a turn that came too late is left out. */
export class Pace {
  readonly #intervalMs: number;
  readonly #stopped: Promise<void>;
  #stopping = false;
  #nextMs: number;

  constructor(intervalMs: number, stopped: Promise<void>) {
    this.#intervalMs = intervalMs;
    this.#stopped = stopped;
    this.#nextMs = performance.now() + intervalMs;
    void stopped.then(() => (this.#stopping = true));
  }

  /** @returns false when it is time to end. */
  async next(): Promise<boolean> {
    const waitMs = Math.max(0, this.#nextMs - performance.now());
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([this.#stopped, new Promise((resolve) => (timer = setTimeout(resolve, waitMs)))]);
    clearTimeout(timer);
    this.#nextMs = Math.max(this.#nextMs + this.#intervalMs, performance.now());
    return !this.#stopping;
  }
}
