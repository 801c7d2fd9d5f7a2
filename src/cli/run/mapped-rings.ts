/** Whether a process still has a ring mapped: a process outlives its agents, and a parent may leave it as a zombie. */
import { readFileSync } from 'node:fs';
import { attempt } from '../../ground/errors.js';

/** Part of the time that these looks may take: the maps of a large process take milliseconds. */
const SHARE = 0.02;
/** Time that they may take at once, for agents that rest at the same time. */
const MOST_AT_ONCE_MS = 20;

export class MappedRings {
  #leftMs = MOST_AT_ONCE_MS;
  #lastMs = performance.now();

  /** False also where that cannot be read, or after too many looks. */
  has(pid: number, path: string): boolean {
    const beganMs = performance.now();
    this.#leftMs = Math.min(MOST_AT_ONCE_MS, this.#leftMs + (beganMs - this.#lastMs) * SHARE);
    this.#lastMs = beganMs;
    if (this.#leftMs <= 0) return false;
    const maps = attempt(() => readFileSync(`/proc/${pid}/maps`, 'utf8'));
    this.#leftMs -= performance.now() - beganMs;
    return maps?.includes(` ${path}\n`) === true;
  }
}
