/** Places where no rings are found: what is wrong with them, as states and in words. Pure. */
import type { PlaceStatus, RingProblem, SourceOptions } from '../shm-bridge/types.js';
import { oneLine } from '../one-line.js';

/** An agent may start later than its reader, but not by much where both are started together. */
export const NO_RINGS_AFTER_MS = 30_000;

/** At most one per place. `watchedMs`: for how long the places have been searched. */
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
  const searched = isRelative ? `; it was given as ${given}, which is relative to the working directory` : '';
  switch (state) {
    case 'ready':
      break;
    case 'absent':
      return { state, reason: `it is not there yet; agents do not make it, and write no ring without it${searched}` };
    case 'corrupt':
      return { state, reason: `${reason}; name the directory that the rings are in${searched}` };
    default:
      return { state, reason: `${reason}${searched}` };
  }
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
