/**
 * Consumers of rings by their locks, which /proc/locks lists for this PID namespace. A look at a lock by taking it would make a
 * consumer that begins at that moment find the ring busy.
 */
import { readdirSync, readFileSync, statSync, type Stats } from 'node:fs';
import { isInHostPidNamespace } from '../../shm-bridge/process-sight.js';
import { attempt } from '../../ground/errors.js';

/**
 * Returns whether a consumer of this package holds a ring; undefined if that may be one of another PID namespace. `holder`: as
 * lockHolders() returns it. `consumed`: whether the header has a mark, which stays when its consumer ends.
 */
export function isHeld({ holder, consumed }: { holder?: number | undefined; consumed?: boolean }): boolean | undefined {
  if (holder !== undefined) return true;
  return consumed === true && !isInHostPidNamespace() ? undefined : false;
}

/** Returns, for each file, the pid of the process that holds its lock; undefined if none is visible. */
export function lockHolders(files: readonly string[]): (number | undefined)[] {
  const holders = holdersByInode();
  const openFiles = new Map<number, ReadonlySet<string> | undefined>();
  const hasOpen = (pid: number, file: string): boolean => {
    if (!openFiles.has(pid)) openFiles.set(pid, openFilesOf(pid));
    return openFiles.get(pid)?.has(file) ?? true;
  };
  return files.map((file) => {
    const inode = statsOf(file)?.ino;
    return inode === undefined ? undefined : holders.get(inode)?.find((pid) => hasOpen(pid, identityOf(file)));
  });
}

/** Returns, for the inode of a deleted file, the pid of the process that holds its lock; undefined if none is visible. */
export function deletedFileHolder(inode: number): number | undefined {
  return holdersByInode()
    .get(inode)
    ?.find((pid) => hasDeletedFile(pid, inode));
}

/** Returns true if that cannot be known. By the inode alone: a file system may have another device in /proc/PID/maps. */
function hasDeletedFile(pid: number, inode: number): boolean {
  const files = attempt(() => readdirSync(`/proc/${pid}/fd`))?.map((fd) => statsOf(`/proc/${pid}/fd/${fd}`));
  return files?.some((stats) => stats?.ino === inode && stats.nlink === 0) ?? true;
}

/** Example of a line: `1: FLOCK  ADVISORY  WRITE 17061 fe:00:2199116 0 EOF`. */
const LOCK = /: FLOCK +\S+ +WRITE +(\d+) +\w+:\w+:(\d+) /g;

function holdersByInode(): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [, pid, inode] of readFileSync('/proc/locks', 'latin1').matchAll(LOCK)) {
    found.set(Number(inode), [...(found.get(Number(inode)) ?? []), Number(pid)]);
  }
  return found;
}

/** Returns the open files of a process, because files of several file systems may have equal inodes; undefined if hidden. */
function openFilesOf(pid: number): ReadonlySet<string> | undefined {
  return attempt(() => new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => identityOf(`/proc/${pid}/fd/${fd}`))));
}

function identityOf(file: string): string {
  const stats = statsOf(file);
  return `${stats?.dev}:${stats?.ino}`;
}

/** Returns undefined if there is no such file, or if this user may not know. */
export function statsOf(file: string): Stats | undefined {
  return attempt(() => statSync(file));
}
