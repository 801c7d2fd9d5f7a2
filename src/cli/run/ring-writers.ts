/** Processes of rings, for agents whose process the collector has not seen yet. */
import { statSync } from 'node:fs';
import { attempt } from '../../ground/errors.js';
import { processStart } from '../../shm-bridge/agent-process.js';
import { mayExamine, visiblePids } from '../../shm-bridge/process-sight.js';
import { findWriters } from '../../shm-bridge/ring.js';

/**
 * Returns, for each ring, whether a process can write it: its pid, or undefined if that is not known. `none`: all are gone. A
 * process that began before the run knows nothing of its directory, and one of another user than the owner of a ring did not make
 * it. If any of the others may not be examined, it is not known whether all are gone.
 */
export function ringWriters(paths: readonly string[]): readonly (number | 'none' | undefined)[] {
  if (paths.length === 0) return [];
  const owners = new Set(paths.flatMap((path) => statSync(path, { throwIfNoEntry: false })?.uid ?? []));
  const own = Number(processStart(process.pid));
  const areExamined = (attempt(visiblePids) ?? []).every((pid) => {
    const uid = attempt(() => statSync(`/proc/${pid}`).uid);
    if (uid === undefined || !owners.has(uid) || !(Number(processStart(pid)) >= own)) return true;
    return mayExamine(pid);
  });
  return findWriters(paths).map(([pid]) => pid ?? (areExamined ? 'none' : undefined));
}
