/** State of this process, for the metrics of serve about itself. Linux only. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { ProcessState } from '../instrumentation/serve-state.js';

const DESCRIPTORS = '/proc/self/fd';
const LIMITS = '/proc/self/limits';

/** A limit changes by prlimit(1) only. */
const LIMIT_AGE_MS = 30_000;
let limit: { readonly value: number | undefined; readonly readMs: number } | undefined;

/** Reads three files of /proc, and twice a minute a fourth one. */
export function ownProcess(): ProcessState {
  const { user, system } = process.cpuUsage();
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    openDescriptors: openDescriptors(),
    maxDescriptors: keptLimit(),
    startSeconds: performance.timeOrigin / 1000,
    uptimeSeconds: performance.now() / 1000,
  };
}

/** Linux 6.2 and later have the number as the size of the directory. A list has the directory's own descriptor, too. */
function openDescriptors(): number {
  return statSync(DESCRIPTORS).size || readdirSync(DESCRIPTORS).length - 1;
}

function keptLimit(): number | undefined {
  const nowMs = performance.now();
  if (limit === undefined || nowMs - limit.readMs > LIMIT_AGE_MS) limit = { value: maxDescriptors(), readMs: nowMs };
  return limit.value;
}

/** Returns the soft limit. Node.js raises it to the hard one at its start. */
function maxDescriptors(): number | undefined {
  const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS, 'latin1')) ?? [];
  return most === undefined ? undefined : Number(most);
}
