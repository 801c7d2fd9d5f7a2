/** Space of a directory whose rings a command lists itself. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { placeSpace, spaceShortage } from '../../shm-bridge/place-space.js';
import { STATE_FOLDER } from './ring-files.js';
import { attempt } from '../../ground/errors.js';

/** A file of the directory. `writer`: pid of the process that writes it, if one is visible. */
interface ListedFile {
  readonly path: string;
  readonly state: string;
  readonly writer?: number | undefined;
}

/** States of files that are or become rings. */
const OF_RINGS: readonly string[] = ['ready', 'initializing', 'busy'];

/** Returns why a directory is short of space, in words; undefined if it is not, or cannot be examined. */
export function shortageIn(directory: string, files: readonly ListedFile[]): string | undefined {
  const rings = files.filter(({ state }) => OF_RINGS.includes(state));
  const folders = new Set(files.map((file) => path.join(path.dirname(file.path), STATE_FOLDER)));
  const stateFiles = [...folders].flatMap((folder) => namesIn(folder).map((name) => path.join(folder, name)));
  const found = rings.map((ring) => ({ path: ring.path, hasEnded: ring.writer === undefined }));
  const space = attempt(() => placeSpace(directory, found, stateFiles));
  return space && spaceShortage(space, ['a visible process', 'no visible process']);
}

/** Returns no name of a folder that is absent, or of another user. */
function namesIn(folder: string): string[] {
  return attempt(() => readdirSync(folder)) ?? [];
}
