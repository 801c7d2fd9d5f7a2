/** Space of a directory of rings: what agents have, what they may yet take, and how many more fit. */
import { lstatSync, statfsSync } from 'node:fs';
import { bytesText, plural } from '../ground/figures/figure.js';
import type { PlaceSpace } from './types.js';
import { attempt } from '../ground/errors.js';

const PAGE = 4096;
const MIB = 2 ** 20;
/** Unit of st_blocks. */
const BLOCK = 512;
/** Size of a ring that NIXL makes by default: 4096 slots of 16 bytes. */
const DEFAULT_RING_BYTES = 65_576;
/** A place is short of space if fewer further agents fit than live there, which a restart of all may need, and if fewer than this. */
const FEW_AGENTS = 4;

const inPages = (bytes: number): number => Math.ceil(bytes / PAGE) * PAGE;

/** Returns the bytes that state leaves free for agents that start, as `RingSpace::reserveOf()` of the native part. */
export function stateReserve(totalBytes: number): number {
  return Math.min(Math.max(totalBytes / 16, MIB), 64 * MIB);
}

/** Returns the bytes that further agents may take; undefined without a limit. */
export function freeForAgents({ totalBytes, freeBytes, lackBytes }: PlaceSpace): number | undefined {
  return totalBytes === 0 ? undefined : Math.max(0, freeBytes - lackBytes);
}

/** Returns how many further agents have space for rings as large as the largest one there; undefined without a limit. */
export function agentsThatFit(space: PlaceSpace): number | undefined {
  const free = freeForAgents(space);
  return free === undefined ? undefined : Math.floor(free / inPages(space.ringBytes || DEFAULT_RING_BYTES));
}

/** Returns why a place is short of space, in words; undefined if it is not. `of`: words for the owners of live and ended rings. */
export function spaceShortage(
  space: PlaceSpace,
  [living, others] = ['living agents', 'ended agents'],
): string | undefined {
  const fit = agentsThatFit(space);
  if (fit === undefined || fit >= Math.max(FEW_AGENTS, space.live)) return undefined;
  const { freeBytes, lackBytes, live, liveBytes, ended, endedBytes, stateBytes } = space;
  const lacks = lackBytes > freeBytes ? ', and living agents may yet need more than that' : '';
  const parts = [
    `${bytesText(freeBytes)} free${lacks}`,
    `${plural(live, 'ring')} of ${living}: ${bytesText(liveBytes)}`,
    `${plural(ended, 'ring')} of ${others}: ${bytesText(endedBytes)}`,
    `state files: ${bytesText(stateBytes)}`,
  ];
  return `space for ${fit === 0 ? 'no more agents' : plural(fit, 'more agent')} (${parts.join('; ')})`;
}

/** A file of a directory, and whether its agent has ended. */
export interface FileInPlace {
  readonly path: string;
  readonly hasEnded: boolean;
}

/**
 * Returns the space of a directory whose rings this process lists itself. Files that cannot be examined have no size.
 * @throws if the directory cannot be examined
 */
export function placeSpace(
  directory: string,
  rings: readonly FileInPlace[],
  stateFiles: readonly string[],
): PlaceSpace {
  const { blocks, bavail, bsize } = statfsSync(directory);
  const space = { totalBytes: blocks * bsize, freeBytes: bavail * bsize, lackBytes: 0, ringBytes: 0 };
  const counts = { live: 0, liveBytes: 0, ended: 0, endedBytes: 0, stateBytes: 0 };
  for (const { path, hasEnded } of rings) {
    const [size, allocated] = sizesOf(path);
    if (hasEnded) {
      counts.ended++;
      counts.endedBytes += allocated;
      continue;
    }
    counts.live++;
    counts.liveBytes += allocated;
    space.ringBytes = Math.max(space.ringBytes, size);
    space.lackBytes += Math.max(0, inPages(size) - allocated);
  }
  for (const file of stateFiles) counts.stateBytes += sizesOf(file)[1];
  return { ...space, ...counts };
}

function sizesOf(file: string): [size: number, allocated: number] {
  const stats = attempt(() => lstatSync(file, { throwIfNoEntry: false }));
  return stats === undefined ? [0, 0] : [stats.size, stats.blocks * BLOCK];
}
