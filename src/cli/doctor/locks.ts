/** Processes that hold the locks of files, by /proc/locks, which lists those of this PID namespace. */
import { readdirSync, readFileSync } from 'node:fs';
import { statsOf } from './processes.js';

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
  try {
    return new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => identityOf(`/proc/${pid}/fd/${fd}`)));
  } catch {
    return undefined;
  }
}

function identityOf(file: string): string {
  const stats = statsOf(file);
  return `${stats?.dev}:${stats?.ino}`;
}
