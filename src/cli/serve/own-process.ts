/** State of this process, for the metrics of serve about itself. Linux only. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { ProcessState } from '../../instrumentation/serve-state.js';

const DESCRIPTORS = '/proc/self/fd';
const LIMITS = '/proc/self/limits';

/** Reads four files of /proc. */
export function ownProcess(): ProcessState {
  const { user, system } = process.cpuUsage();
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    openDescriptors: openDescriptors(),
    maxDescriptors: maxDescriptors(),
    startSeconds: performance.timeOrigin / 1000,
    uptimeSeconds: performance.now() / 1000,
  };
}

/** Linux 6.2 and later have the number as the size of the directory. A list has the directory's own descriptor, too. */
function openDescriptors(): number {
  return statSync(DESCRIPTORS).size || readdirSync(DESCRIPTORS).length - 1;
}

/** Returns the soft limit. Node.js raises it to the hard one at its start. */
function maxDescriptors(): number | undefined {
  const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS, 'latin1')) ?? [];
  return limit === undefined ? undefined : Number(limit);
}
