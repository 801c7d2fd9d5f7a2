/** Bytes of the network interfaces that a process sees, by its network namespace. Linux only. */
import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../ground/errors.js';

export interface ByteCounts {
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** Returns the identity of the process's network namespace: `net:[4026531840]`; undefined if it is not visible. */
export function networkNamespaceOf(pid: number, procDir = '/proc'): string | undefined {
  return attempt(() => readlinkSync(join(procDir, String(pid), 'ns/net')));
}

/** Returns the counters of all interfaces in the namespace of the process, by name; undefined if they are not visible. */
export function interfacesOf(pid: number, procDir = '/proc'): ReadonlyMap<string, ByteCounts> | undefined {
  const text = attempt(() => readFileSync(join(procDir, String(pid), 'net/dev'), 'latin1'));
  if (text === undefined) return undefined;
  const counts = new Map<string, ByteCounts>();
  for (const [, name, numbers] of text.matchAll(/^\s*([^\s:]+):(.*)$/gm)) {
    const columns = numbers!.trim().split(/\s+/).map(Number);
    if (columns.length >= 9) counts.set(name!, { receivedBytes: columns[0]!, sentBytes: columns[8]! });
  }
  return counts;
}
