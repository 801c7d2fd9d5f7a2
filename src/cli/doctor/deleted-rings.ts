/** Rings that were deleted while their process writes them, as its mappings show. */
import path from 'node:path';
import { isInHostPidNamespace } from '../../shm-bridge/process-sight.js';
import { deletedFileHolder } from '../../view/rings/ring-locks.js';
import type { DoctorFinding } from '../../view/answers/doctor-finding.js';
import { finding, firstThree } from './finding.js';
import type { NixlProcess } from './nixl-processes.js';
import { rightsOf, titleOf } from './processes.js';

/** Directories of files of all programs. Libraries use deleted files there, so only the lock of a consumer proves a ring. */
const SHARED_DIRECTORIES: ReadonlySet<string> = new Set(['/dev/shm', '/tmp', '/var/tmp']);

/** `directories`: of rings, as the process names them. Returns one finding per consumer that has such rings open. */
export function deletedFindings(one: NixlProcess, directories: readonly string[]): DoctorFinding[] {
  const { pid, title: subject, deleted } = one;
  const filesOf = new Map<number | undefined, string[]>();
  for (const { given, inode } of deleted) {
    if (!directories.some((directory) => given.startsWith(path.join(directory, '/')))) continue;
    const holder = deletedFileHolder(inode);
    const isRing = holder !== undefined || !SHARED_DIRECTORIES.has(path.dirname(given));
    // A consumer maps the rings that it has locked.
    if (isRing && holder !== pid) filesOf.set(holder, [...(filesOf.get(holder) ?? []), given]);
  }
  return [...filesOf].map(([holder, files]) => {
    const values = { DIR: path.dirname(files[0]!), UID: rightsOf(pid)?.user ?? 'UID' };
    const what = `writes what was deleted: ${firstThree(files.toSorted())}; ${countedBy(holder)}`;
    return finding('ring-deleted', { subject, what, values, ...(holder === undefined ? {} : { status: 'note' }) });
  });
}

function countedBy(holder: number | undefined): string {
  if (holder !== undefined) return `${titleOf(holder)} counts it, and no later consumer can`;
  return isInHostPidNamespace() ? 'no consumer has it open, so its events are lost' : 'no later consumer can count it';
}
