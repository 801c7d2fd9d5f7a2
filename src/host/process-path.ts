/** Plug-ins, devices and files by which a process may move bytes. Linux only; this user must be permitted to examine the process. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../ground/errors.js';
import type { ProcessPath } from '../way/way.js';
import type { ByteCounts } from './interfaces.js';
import { deviceOfVerbs } from './rdma-ports.js';

/** A process with more open files is not searched for devices: each costs a system call. */
const MOST_FILES = 4096;

export function processPath(pid: number, sysDir: string, procDir = '/proc'): ProcessPath {
  const backends = backendsOf(pid, procDir);
  const devices = devicesOf(pid, sysDir, procDir);
  const memoryNode = memoryNodeOf(pid, procDir);
  return {
    ...(backends && { backends }),
    ...(devices && { devices }),
    ...(memoryNode !== undefined && { memoryNode }),
  };
}

function backendsOf(pid: number, procDir: string): string[] | undefined {
  const maps = attempt(() => readFileSync(join(procDir, String(pid), 'maps'), 'latin1'));
  if (maps === undefined) return undefined;
  return [...new Set([...maps.matchAll(/\/libplugin_(\w{1,40})\.so/g)].map(([, name]) => name!))].toSorted();
}

function devicesOf(pid: number, sysDir: string, procDir: string): string[] | undefined {
  const folder = join(procDir, String(pid), 'fd');
  const files = attempt(() => readdirSync(folder));
  if (files === undefined || files.length > MOST_FILES) return undefined;
  const devices = new Set<string>();
  for (const file of files) {
    const verbs = /^\/dev\/infiniband\/(uverbs\d+)$/.exec(attempt(() => readlinkSync(join(folder, file))) ?? '')?.[1];
    const device = verbs && deviceOfVerbs(verbs, sysDir);
    // A device without a name is open, and nothing can be ruled out.
    if (verbs !== undefined && device === undefined) return undefined;
    if (device !== undefined) devices.add(device);
  }
  return [...devices].toSorted();
}

/** Returns the only NUMA node of which the process may take memory; undefined if it may take it of several. */
function memoryNodeOf(pid: number, procDir: string): number | undefined {
  const status = attempt(() => readFileSync(join(procDir, String(pid), 'status'), 'latin1')) ?? '';
  const node = /^Mems_allowed_list:\s*(\d+)$/m.exec(status)?.[1];
  return node === undefined ? undefined : Number(node);
}

/** Bytes that the process read and wrote: of disks, and of files and pipes by system calls. */
export interface FileBytes {
  readonly disk: ByteCounts;
  readonly calls: ByteCounts;
}

/** Returns undefined if they are not visible. */
export function fileBytesOf(pid: number, procDir = '/proc'): FileBytes | undefined {
  const text = attempt(() => readFileSync(join(procDir, String(pid), 'io'), 'latin1'));
  const field = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text ?? '')?.[1]);
  const disk = { receivedBytes: field('read_bytes'), sentBytes: field('write_bytes') };
  const calls = { receivedBytes: field('rchar'), sentBytes: field('wchar') };
  return Number.isNaN(disk.receivedBytes + disk.sentBytes + calls.receivedBytes + calls.sentBytes)
    ? undefined
    : { disk, calls };
}
