/** Files that were read, and whether one of them has changed since. */
import { readFileSync, statSync } from 'node:fs';

export class ReadFiles {
  readonly #stamps = new Map<string, string>();

  /** Remembers the file even if it cannot be read. @throws as readFileSync() */
  read(file: string): string {
    this.#stamps.set(file, stampOf(file)); // before the content: a change in between must be seen
    return readFileSync(file, 'utf8');
  }

  get haveChanged(): boolean {
    for (const [file, stamp] of this.#stamps) if (stampOf(file) !== stamp) return true;
    return false;
  }
}

/** A rename, as of a mounted secret, changes the inode; a write changes times or size. */
function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}
