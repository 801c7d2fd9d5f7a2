/** Ownership of the instruments on a MeterProvider, and repeated attempts until a provider is ready. */

import type { NamedReporter } from './joining/ring-reporter.js';

const OWNERS = Symbol.for('opentelemetry-instrumentation-nixl.instruments');

/** Returns the owners by provider. They are on the global object, so that all copies of this package share them. */
function owners(): WeakMap<object, NamedReporter> {
  const global = globalThis as { [OWNERS]?: WeakMap<object, NamedReporter> };
  return (global[OWNERS] ??= new WeakMap());
}

/** Returns the owner of the provider: `owner`, unless another one was first. Two owners would export everything twice. */
export function claimInstruments(provider: object, owner: NamedReporter): NamedReporter {
  const found = owners().get(provider) ?? owner;
  owners().set(provider, found);
  return found;
}

export function releaseInstruments(provider: object, owner: NamedReporter): void {
  if (owners().get(provider) === owner) owners().delete(provider);
}

const FIRST_DELAY_MS = 10;
const LONGEST_DELAY_MS = 1000;
/** A service that starts slowly has its SDK by then. */
export const LONG_WAIT_MS = 30_000;

/**
 * Calls `attempt` at once, then at doubling intervals up to a second, until it is stopped. Calls `onLongWait` once if that
 * takes longer than LONG_WAIT_MS.
 */
export class Retry {
  readonly #attempt: () => void;
  readonly #onLongWait: () => void;
  #timer: NodeJS.Timeout | undefined;
  #longWait: NodeJS.Timeout | undefined;

  constructor(attempt: () => void, onLongWait: () => void) {
    this.#attempt = attempt;
    this.#onLongWait = onLongWait;
  }

  /** Does nothing if it already runs. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#longWait = setTimeout(this.#onLongWait, LONG_WAIT_MS).unref();
    this.#schedule(FIRST_DELAY_MS);
    this.#attempt();
  }

  stop(): void {
    clearTimeout(this.#longWait);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Unref'd: telemetry must not keep an idle process alive. */
  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => {
      this.#schedule(Math.min(LONGEST_DELAY_MS, 2 * delayMs));
      this.#attempt(); // calls stop() on success
    }, delayMs).unref();
  }
}
