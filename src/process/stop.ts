/** Requests to stop: by a signal, or because stdout has no reader any more. */
import { closeSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { isatty } from 'node:tty';

/** Standard streams that are terminals. */
const TERMINALS = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * SIGHUP reports that the terminal was closed. A process under nohup has to survive it, but Node resets ignored signals to
 * their default before any code runs. Therefore the streams decide: under nohup none of them is a terminal.
 */
const HAS_TERMINAL = TERMINALS.length > 0;
const SIGNALS: readonly NodeJS.Signals[] = HAS_TERMINAL ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT', 'SIGTERM'];

/** Ignores SIGHUP without a terminal. With a terminal, SIGHUP requests a stop. */
export function ignoreHangup(): void {
  if (!HAS_TERMINAL) process.on('SIGHUP', () => {});
}

/**
 * Lets a process end as usual although its terminal was closed. Node restores the settings of its terminals at its end, and
 * crashes if that fails (ResetStdio). It leaves out streams that are closed.
 */
export function outliveTerminal(): void {
  process.on('exit', () => {
    for (const fd of TERMINALS) if (!isatty(fd)) closeSync(fd);
  });
}

/**
 * A second signal ends the process at once. A single Ctrl-C under `npm start` arrives twice, though: from the terminal, and
 * from npm, which forwards it.
 */
const SAME_REQUEST_MS = 500;

export class StopRequest {
  readonly #controller = new AbortController();
  #firstSignalMs: number | undefined;
  /** Keeps the process alive: a listener for signals does not. */
  readonly #awake = setInterval(() => {}, 2 ** 30);

  readonly requested = new Promise<void>((resolve) => {
    this.#controller.signal.addEventListener('abort', () => resolve());
  });

  constructor() {
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  get isRequested(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Has the effect of a first signal. */
  request(): void {
    this.#controller.abort();
  }

  /** Waits for this time, or until a stop is requested. A time that has passed (`ms` below 0) takes a turn of the event loop. */
  async pause(ms: number): Promise<void> {
    // Node.js 21 and later warn on stderr of a negative delay.
    await setTimeout(Math.max(0, ms), undefined, { signal: this.#controller.signal }).catch(() => {});
  }

  /** Restores the default effect of signals. */
  dispose(): void {
    clearInterval(this.#awake);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    this.#firstSignalMs ??= nowMs;
    if (nowMs - this.#firstSignalMs > SAME_REQUEST_MS) process.exit(128 + constants.signals[signal]);
    this.request();
  };
}
