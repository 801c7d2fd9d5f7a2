/** Looks again, at once and then at doubling distances up to a second, until it is stopped. */

const FIRST_LOOK_MS = 10;
const LONGEST_LOOK_MS = 1000;

export class Waiting {
  readonly #look: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(look: () => void) {
    this.#look = look;
  }

  /** Does nothing while it waits already. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#later(FIRST_LOOK_MS);
    this.#look();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Unref'd: telemetry must not keep a process alive that has nothing else to do. */
  #later(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#later(Math.min(LONGEST_LOOK_MS, 2 * delayMs));
      this.#look(); // which stops the timer when it finds something
    }, delayMs).unref();
  }
}
