/** Problems of places without rings, as states and as text. Pure. */
import { dirname } from 'node:path';
import { intervalText } from '../../ground/figures/clock.js';
import { oneLine } from '../../ground/one-line.js';
import { spaceShortage } from '../../shm-bridge/place-space.js';
import type { PlaceStatus, RingProblem, SourceOptions } from '../../shm-bridge/index.js';

/** Grace time for agents that start together with their reader. */
export const NO_RINGS_AFTER_MS = 30_000;

const WITHOUT_SPACE =
  'the kernel ends an agent whose ring finds no space (SIGBUS): remove rings of ended agents, or enlarge the file system';

/**
 * Returns at most one problem per place. `watchedMs`: time since the search of the places began. `starting`: returns which engines
 * start that would write into a directory, in words; called only for a place without rings.
 */
export function placeProblems(
  places: readonly PlaceStatus[],
  watchedMs: number,
  starting: (directory: string) => string | undefined,
): RingProblem[] {
  return places.flatMap((place) => {
    const found = problemOf(place, watchedMs, starting);
    return found === undefined ? [] : [{ path: place.path, ...found }];
  });
}

export function placeLine({ path, state, reason }: RingProblem): string {
  if (state === 'no_rings') return `no rings in ${path}: ${reason}`;
  if (state === 'unseen') return `${path}: ${reason}`;
  return state === 'no_space' ? `${path} has ${reason}; ${WITHOUT_SPACE}` : `directory ${path} is ${state}: ${reason}`;
}

/** Returns directories and globs as one text, for messages. */
export function placesText({ directories = [], globs = [] }: Pick<SourceOptions, 'directories' | 'globs'>): string {
  return oneLine([...directories, ...globs].join(', '));
}

function problemOf(
  place: PlaceStatus,
  watchedMs: number,
  starting: (directory: string) => string | undefined,
): Omit<RingProblem, 'path'> | undefined {
  const { state, reason, given, hadRings } = place;
  const isRelative = !given.startsWith('/');
  const origin = isRelative ? `; it was given as ${given}, which is relative to the working directory` : '';
  if (state === 'absent' && hadRings) return { state, reason: `it was removed${origin}` };
  if (state === 'absent') {
    return { state, reason: `it does not exist yet; agents write no ring without it and do not create it${origin}` };
  }
  if (state === 'corrupt') return { state, reason: `${reason}; name the directory of the rings${origin}` };
  if (state !== 'ready') return { state, reason: `${reason}${origin}` };
  const shortage = spaceShortage(place.space);
  if (shortage !== undefined) return { state: 'no_space', reason: shortage };
  if (hadRings) return undefined;
  if (watchedMs >= NO_RINGS_AFTER_MS)
    return { state: 'no_rings', reason: noRings(place, starting(place.isGlob ? dirname(place.path) : place.path)) };
  if (isRelative) return { state: 'relative', reason: `it was given as ${given}, and agents may write elsewhere` };
  return undefined;
}

function noRings({ files, isGlob }: PlaceStatus, starting: string | undefined): string {
  const found = files > 0 ? `none of its ${files} files is a ring` : isGlob ? 'no file matches' : 'there are no files';
  const soFar = `${found} after ${intervalText(NO_RINGS_AFTER_MS)}`;
  if (starting !== undefined) return `${soFar}; ${starting}: an engine makes its agents once it has loaded its model`;
  return `${soFar}; agents write rings with NIXL_TELEMETRY_ENABLE=y and this directory in NIXL_TELEMETRY_DIR`;
}
