/** Part of a bundle: a directory of rings: headers, and the state that serve keeps of them. No events, no sums. */
import path from 'node:path';
import { attempt } from '../../../ground/errors.js';
import { readState } from '../../../shm-bridge/ring.js';
import { filesBelow, statOf, STATE_FOLDER } from '../../../view/rings/ring-files.js';
import type { CheckedPlace } from '../checks.js';

/** Limit of rings, and of files of state. */
const MOST_FILES = 1000;

export function bundledDirectory({ place, rings = [] }: CheckedPlace) {
  const complaints: string[] = [];
  const folders = new Set([place.path, ...rings.map((ring) => path.dirname(ring.path))]);
  const stateFiles = [...folders].flatMap((folder) => stateFilesIn(folder, complaints));
  return {
    directory: place.title,
    ...(place.path === place.title ? {} : { reachedAs: place.path }),
    ringCount: rings.length,
    rings: rings.slice(0, MOST_FILES).map((ring) => ({
      ...ring,
      ...factsOf(ring.path),
      kept: attempt(() => readState(ring.path)) ?? 'no state of this ring that this user can read',
    })),
    stateFileCount: stateFiles.length,
    stateFiles: stateFiles.slice(0, MOST_FILES),
    complaints: complaints.slice(0, MOST_FILES),
  };
}

/** Folders without state are no complaint. */
function stateFilesIn(folder: string, complaints: string[]) {
  const state = path.join(folder, STATE_FOLDER);
  if (statOf(state, ({ text }) => complaints.push(text)) === undefined) return [];
  return filesBelow(state, ({ text }) => complaints.push(text)).map((name) => {
    const file = path.join(state, name);
    return { path: file, ...factsOf(file) };
  });
}

function factsOf(file: string) {
  const stats = statOf(file, () => {});
  if (stats === undefined) return {};
  const { size: bytes, mode, uid, gid, mtime } = stats;
  return { bytes, mode: (mode & 0o7777).toString(8).padStart(4, '0'), uid, gid, changed: mtime.toISOString() };
}
