/** Stops the collector thread of a real process, like a disk that does not answer. */
import { closeSync, openSync, readSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../cli/command.js';
import { preloadable } from './preload.js';

/** Place of the stop: `s` in a search for rings, `p` in a drain. */
export type Place = 's' | 'p';

export class CollectorStop {
  /** Path of the control file, for programs that stop their own thread. */
  readonly file = path.join(temporaryDirectory(), 'control');
  /** Variables that the process needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly #fd: number;

  constructor() {
    writeFileSync(this.file, Buffer.alloc(2));
    this.env = { LD_PRELOAD: preloadable('held-up.c'), HELD_UP_FILE: this.file };
    this.#fd = openSync(this.file, 'r+');
    onTestFinished(() => closeSync(this.#fd));
  }

  /** Stops the thread at its next call in this place. */
  hold(place: Place): void {
    writeSync(this.#fd, place, 0);
  }

  release(): void {
    writeSync(this.#fd, '-', 0);
  }

  get isHeldUp(): boolean {
    const bytes = Buffer.alloc(2);
    readSync(this.#fd, bytes, 0, 2, 0);
    return bytes[1] === 1;
  }
}
