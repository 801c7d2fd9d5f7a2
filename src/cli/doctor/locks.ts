/** Processes that hold the locks of files, by /proc/locks. It shows the processes of this PID namespace, of all users. */
import { readdirSync, readFileSync } from 'node:fs';
import { isSameFile, statsOf } from './processes.js';

/** Returns, for each file, the pid of the process that holds its lock; undefined if none is visible. */
export function lockHolders(files: readonly string[]): (number | undefined)[] {
  const holders = holdersByInode();
  return files.map((file) => {
    const inode = statsOf(file)?.ino;
    return inode === undefined ? undefined : holders.get(inode)?.find((pid) => hasOpen(pid, file));
  });
}

/** Example of a line: `1: FLOCK  ADVISORY  WRITE 17061 fe:00:2199116 0 EOF`. */
function holdersByInode(): Map<number, number[]> {
  const found = new Map<number, number[]>();
  for (const [, pid, inode] of readFileSync('/proc/locks', 'latin1').matchAll(
    /: FLOCK +\S+ +WRITE +(\d+) +\w+:\w+:(\d+) /g,
  )) {
    found.set(Number(inode), [...(found.get(Number(inode)) ?? []), Number(pid)]);
  }
  return found;
}

/** Distinguishes equal inodes of several file systems. True if this user may not know. */
function hasOpen(pid: number, file: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => isSameFile(`/proc/${pid}/fd/${fd}`, file));
  } catch {
    return true;
  }
}
