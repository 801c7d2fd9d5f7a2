import { types } from 'node:util';
import { invalid } from '../arguments.js';
import { NixlTelemetryError } from '../errors.js';
import type { Handle } from './addon.js';

/** What a ring is to the addon, until it is closed. */
export class OpenHandle {
  readonly #path: string;
  readonly #release: (handle: Handle) => void;
  readonly #what: string;
  #handle: Handle | undefined;

  /**
   * `what`: what is said to be closed afterwards. The addon takes a handle as what it says it is, so it must be one.
   * @throws NixlTelemetryError CONFIG_INVALID
   */
  constructor(path: string, handle: Handle, release: (handle: Handle) => void, what = `the ring ${path}`) {
    if (!types.isExternal(handle)) throw invalid(`${what} has no handle: it is opened by a function, not made by new`);
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
