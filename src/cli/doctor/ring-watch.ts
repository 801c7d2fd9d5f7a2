/** Watches rings for two seconds: agents flush every 100 ms, and a ring that is full then may be empty between two flushes. */
import { setTimeout as pause } from 'node:timers/promises';
import { inspectRing } from '../../shm-bridge/ring.js';
import { isHeld, lockHolders } from '../../view/rings/ring-locks.js';
import type { RingInspection } from '../../shm-bridge/types.js';

const WATCH_MS = 2_000;
/** Shorter than the time between two drains. */
const BETWEEN_LOOKS_MS = 5;
/** Looks take at most half of the time, however many rings there are. */
const MOST_SHARE = 0.5;

interface WatchedRing extends RingInspection {
  readonly path: string;
  /** Pid of the process that holds its lock. */
  readonly holder?: number | undefined;
}

interface Watched {
  /** At any look. */
  wasFull: boolean;
  /** At the begin or at the end. Also true if that cannot be known. */
  wasHeld: boolean;
  /** Whether a consumer moved the read position. */
  hasMoved: boolean;
}

/** `force`: as in ringsIn(). */
export async function watchRings<T extends WatchedRing>(
  rings: readonly T[],
  force: boolean,
): Promise<ReadonlyMap<T, Readonly<Watched>>> {
  const watched = new Map(
    rings.map((ring): [T, Watched] => [
      ring,
      { wasFull: isFull(ring), wasHeld: isHeld(ring) !== false, hasMoved: false },
    ]),
  );
  if (rings.length === 0) return watched;
  const end = performance.now() + WATCH_MS;
  for (let now = performance.now(); now < end; now = performance.now()) {
    for (const [ring, seen] of watched) {
      const { readPos, ...header } = inspectRing(ring.path, { force });
      seen.wasFull ||= isFull(header);
      seen.hasMoved ||= readPos !== ring.readPos;
    }
    await pause(Math.max(BETWEEN_LOOKS_MS, (performance.now() - now) * (1 / MOST_SHARE - 1)));
  }
  const holders = lockHolders(rings.map((ring) => ring.path));
  [...watched.values()].forEach((seen, i) => (seen.wasHeld ||= holders[i] !== undefined));
  return watched;
}

const isFull = ({ pending, capacity }: Pick<RingInspection, 'pending' | 'capacity'>): boolean =>
  pending !== undefined && pending === capacity! - 1;
