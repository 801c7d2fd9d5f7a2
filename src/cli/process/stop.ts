/** Being asked to stop: by a signal, or because nobody reads the output any more. */
import { constants } from 'node:os';
import { isatty } from 'node:tty';

/**
 * SIGHUP says that the terminal is gone. Under nohup that is to be outlived, but Node sets a signal that was ignored back to
 * its default before any code runs, and nothing tells it afterwards. What nohup leaves no process with is a terminal.
 */
const HAS_TERMINAL = [0, 1, 2].some((fd) => isatty(fd));
const SIGNALS: readonly NodeJS.Signals[] = HAS_TERMINAL ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];

/** Without a terminal SIGHUP does nothing from now on, whatever is done; with one it asks to stop, as it does by default. */
export function outliveHangup(): void {
  if (!HAS_TERMINAL) process.on('SIGHUP', () => {});
}

/**
 * A second signal means "at once". One keystroke can arrive twice, though: Ctrl-C under `npm start` reaches this
 * process from the terminal and again from npm, which passes it on.
 */
const SAME_REQUEST_MS = 500;

export class StopRequest {
  readonly requested: Promise<void>;
  #resolve!: () => void;
  #firstSignalMs: number | undefined;

  constructor() {
    this.requested = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  /** Waiting for a signal alone would not keep a process alive. */
  readonly #awake = setInterval(() => {}, 2 ** 30);

  /** As the first signal does. */
  request(): void {
    this.#resolve();
  }

  /** Signals do again what they do by default. */
  dispose(): void {
    clearInterval(this.#awake);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    this.#firstSignalMs ??= nowMs;
    if (nowMs - this.#firstSignalMs > SAME_REQUEST_MS) process.exit(128 + constants.signals[signal]);
    this.#resolve();
  };
}
