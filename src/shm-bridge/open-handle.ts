import { NixlTelemetryError } from '../errors.js';
import type { Handle } from './addon.js';

/** What a ring is to the addon, until it is closed. */
export class OpenHandle {
  readonly #path: string;
  readonly #release: (handle: Handle) => void;
  readonly #what: string;
  #handle: Handle | undefined;

  /** `what`: what is said to be closed afterwards. */
  constructor(path: string, handle: Handle, release: (handle: Handle) => void, what = `the ring ${path}`) {
    this.#path = path;
    this.#handle = handle;
    this.#release = release;
    this.#what = what;
  }

  /** @throws NixlTelemetryError RING_CLOSED */
  get(): Handle {
    if (this.#handle !== undefined) return this.#handle;
    throw new NixlTelemetryError('RING_CLOSED', `${this.#what} is closed`, { path: this.#path });
  }

  close(): void {
    if (this.#handle !== undefined) this.#release(this.#handle);
    this.#handle = undefined;
  }
}
