/** Problems of places without rings, as states and as text. Pure. */
import { oneLine } from '../../one-line.js';
import type { PlaceStatus, RingProblem, SourceOptions } from '../../shm-bridge/index.js';

/** Grace time for agents that start together with their reader. */
export const NO_RINGS_AFTER_MS = 30_000;

/** Returns at most one problem per place. `watchedMs`: time since the search of the places began. */
export function placeProblems(places: readonly PlaceStatus[], watchedMs: number): RingProblem[] {
  return places.flatMap((place) => {
    const found = problemOf(place, watchedMs);
    return found === undefined ? [] : [{ path: place.path, ...found }];
  });
}

export function placeLine({ path, state, reason }: RingProblem): string {
  return state === 'no_rings' ? `no rings in ${path}: ${reason}` : `directory ${path} is ${state}: ${reason}`;
}

/** Returns directories and globs as one text, for messages. */
export function placesText({ directories = [], globs = [] }: Pick<SourceOptions, 'directories' | 'globs'>): string {
  return oneLine([...directories, ...globs].join(', '));
}

function problemOf(place: PlaceStatus, watchedMs: number): Omit<RingProblem, 'path'> | undefined {
  const { state, reason, given, hadRings } = place;
  const isRelative = !given.startsWith('/');
  const origin = isRelative ? `; it was given as ${given}, which is relative to the working directory` : '';
  if (state === 'absent') {
    return { state, reason: `it does not exist yet; agents write no ring without it and do not create it${origin}` };
  }
  if (state === 'corrupt') return { state, reason: `${reason}; name the directory of the rings${origin}` };
  if (state !== 'ready') return { state, reason: `${reason}${origin}` };
  if (hadRings) return undefined;
  if (watchedMs >= NO_RINGS_AFTER_MS) return { state: 'no_rings', reason: noRings(place) };
  if (isRelative) return { state: 'relative', reason: `it was given as ${given}, and agents may write elsewhere` };
  return undefined;
}

function noRings({ files, isGlob }: PlaceStatus): string {
  const seconds = `${NO_RINGS_AFTER_MS / 1000} s`;
  const found = files > 0 ? `none of its ${files} files is a ring` : isGlob ? 'no file matches' : 'there are no files';
  return `${found} after ${seconds}; agents write rings with NIXL_TELEMETRY_ENABLE=y and this directory in NIXL_TELEMETRY_DIR`;
}
