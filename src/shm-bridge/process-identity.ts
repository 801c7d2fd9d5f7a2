/** Name, container and pod of a process, from /proc. Readable also if the process belongs to another user. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ContainerFacts, containerInCgroups, hidesCgroups, podInMounts } from './cgroup.js';
import { attempt } from '../ground/errors.js';

export interface ProcessIdentity {
  /** Name of its first thread: at most 15 bytes, which the process may change. */
  readonly name: string;
  /** Undefined outside of a container, and if the container cannot be seen. */
  readonly containerId: string | undefined;
  readonly podUid: string | undefined;
  /** True if this process's cgroup namespace hides the container. */
  readonly isHidden: boolean;
}

/** Returns the container and pod of its cgroup alone, which needs no right; nothing if it has ended. `procDir`: for tests. */
export function readContainer(pid: number, procDir = '/proc'): ContainerFacts {
  return containerInCgroups(attempt(() => readFileSync(join(procDir, String(pid), 'cgroup'), 'utf8')) ?? '');
}

/** Returns undefined if the process has ended or this process cannot see it. `procDir`: for tests. */
export function readProcessIdentity(pid: number | 'self', procDir = '/proc'): ProcessIdentity | undefined {
  const read = (file: string): string => readFileSync(join(procDir, String(pid), file), 'utf8');
  return attempt(() => {
    const cgroups = read('cgroup');
    const { containerId, podUid = podInMounts(read('mountinfo')) } = containerInCgroups(cgroups);
    return { name: read('comm').replace(/\n$/, ''), containerId, podUid, isHidden: hidesCgroups(cgroups) };
  });
}
