/** Removal of a ring that did not change since it was looked at. */
import { FRESH_NAMES } from '../engines/engine-rows.js';
import { pathArgument } from '../ground/arguments.js';
import { DEFAULT_DEAD_TTL_MS } from '../ground/source-limits.js';
import { addon, type Handle } from './addon.js';

/** Time for which serve waits at most until all exporters have the last values of an ended agent. */
const KEPT_STATE_MS = DEFAULT_DEAD_TTL_MS + 600_000;

/** A ring at one moment, which may be removed if it stays as it is. */
export class SeenRing {
  readonly path: string;
  /** Undefined if the file is no ring that can be read, for the reason `problem`. */
  readonly #seen: Handle | undefined;
  readonly problem: string | undefined;

  constructor(path: string) {
    this.path = path;
    const seen = addon().lookAtRing(pathArgument('path', path));
    this.#seen = typeof seen === 'string' ? undefined : seen;
    this.problem = typeof seen === 'string' ? seen : undefined;
  }

  /** Returns why the ring would stay; undefined if it could be removed. The caller has seen that no process writes it. */
  whyItStays(anyName: boolean): string | undefined {
    return this.#remove(anyName, true);
  }

  /** Removes the ring and its state file. Returns why it did not, or undefined. */
  remove(anyName: boolean): string | undefined {
    return this.#remove(anyName, false);
  }

  #remove(anyName: boolean, dryRun: boolean): string | undefined {
    if (this.#seen === undefined) return this.problem;
    const names = anyName ? undefined : FRESH_NAMES;
    return addon().removeEndedRing(this.#seen, this.path, names, KEPT_STATE_MS, dryRun) || undefined;
  }
}
