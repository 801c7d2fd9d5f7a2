/** Processes that use NIXL: what they have loaded, the variables of their start, and the rings that they write. */
import { readFileSync } from 'node:fs';
import type { Environment } from '../../settings/row.js';
import { initialEnvironment } from '../../shm-bridge/agent-process.js';
import { visiblePids } from '../../shm-bridge/process-sight.js';
import { inspectRing } from '../../shm-bridge/ring.js';
import { processConfig, type ProcessConfig } from './process-config.js';
import { statsOf } from '../../view/rings/ring-locks.js';
import { isNixlOtel, reached, fileText, titleOf } from './processes.js';

/** NIXL's variables that decide whether, where and how an agent writes a ring. */
const VARIABLES = [
  'NIXL_TELEMETRY_ENABLE',
  'NIXL_TELEMETRY_DIR',
  'NIXL_TELEMETRY_EXPORTER',
  'NIXL_TELEMETRY_EXPORTER_OUTPUT_PATH',
  'NIXL_TELEMETRY_BUFFER_SIZE',
];

export interface NixlProcess {
  readonly pid: number;
  /** For messages: `process 17 (python3)`. */
  readonly title: string;
  /**
   * NIXL's variables, as of the start of the process, and for others the values of its configuration file; undefined if it
   * overwrote its variables, as engines that rename themselves do.
   */
  readonly environment: Environment | undefined;
  readonly config: ProcessConfig | undefined;
  /** True if it has loaded NIXL's library. A process that only has the variables may be a shell. */
  readonly hasLibrary: boolean;
  /** True if it has loaded a plug-in of NIXL: an agent loads those of its backends. */
  readonly hasAgent: boolean;
  /** Rings that it has mapped for writing. Empty without NIXL's library. */
  readonly rings: readonly MappedRing[];
  /** Files that it has mapped for writing, and that have no name any more. Only some of them are rings. */
  readonly deleted: readonly DeletedFile[];
}

export interface DeletedFile {
  /** Its last path, as the process names it. */
  readonly given: string;
  readonly inode: number;
}

export interface MappedRing {
  /** As the process names it. */
  readonly given: string;
  /** As this process reaches it. */
  readonly path: string;
  readonly isConsumed: boolean;
}

/** Returns the processes that use NIXL or have its variables, and the number of those that this user may not examine. */
export function nixlProcesses(): { processes: NixlProcess[]; hidden: number } {
  const own = ancestors();
  const pids = visiblePids().filter((pid) => !own.has(pid));
  const looks = pids.map(lookAt);
  const processes = looks.filter((one): one is NixlProcess => typeof one === 'object' && isNixl(one));
  return { processes, hidden: looks.filter((one) => one === 'hidden').length };
}

/** Returns `gone` if there is no such process, `hidden` if this user may not examine it. */
export function lookAt(pid: number): NixlProcess | 'gone' | 'hidden' {
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, 'latin1');
    const hasLibrary = /\/libnixl[^/\n]*\.so/.test(maps);
    const all = initialEnvironment(pid);
    const config = all && hasLibrary ? processConfig(pid, Object.fromEntries(all)) : undefined;
    const environment =
      all && Object.fromEntries(VARIABLES.map((name) => [name, all.get(name) ?? config?.values[name]]));
    const hasAgent = hasLibrary && /\/libplugin_[^/\n]*\.so/.test(maps);
    const rings = hasLibrary ? ringsIn(pid, maps) : [];
    return { pid, title: titleOf(pid), environment, config, hasLibrary, hasAgent, rings, deleted: deletedIn(maps) };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return ['EACCES', 'EPERM'].includes(code) ? 'hidden' : 'gone';
  }
}

/** Example of a line: `7f12a4000000-7f12a4001000 rw-s 00000000 fe:00 131077   /dev/shm/nixl/agent`. */
const WRITABLE_FILE = /^\S+ .w.s \S+ \S+ [1-9]\d* +(\/.*)$/gm;

/** Example of a line: `7f12a4000000-7f12a4011000 rw-s 00000000 00:1a 42   /dev/shm/nixl/agent (deleted)`. */
const DELETED_FILE = /^\S+ .w.s \S+ \S+ ([1-9]\d*) +(\/.*) \(deleted\)$/gm;

function deletedIn(maps: string): DeletedFile[] {
  const found = [...maps.matchAll(DELETED_FILE)].map(([, inode, given]) => ({ given: given!, inode: Number(inode) }));
  return [...new Map(found.map((file) => [file.inode, file])).values()];
}

/** A deleted file, as memory of NCCL or UCX, cannot be opened by its name. */
function ringsIn(pid: number, maps: string): MappedRing[] {
  const files = new Set([...maps.matchAll(WRITABLE_FILE)].map(([, file]) => file!));
  return [...files].flatMap((file) => {
    if (file.endsWith(' (deleted)')) return [];
    const { given, path } = reached(pid, file);
    // Opening a device may have an effect.
    if (statsOf(path)?.isFile() !== true) return [];
    const { state, consumed } = inspectRing(path, { force: true });
    return state === 'ready' ? [{ given, path, isConsumed: consumed === true }] : [];
  });
}

function isNixl({ pid, environment = {}, hasLibrary }: NixlProcess): boolean {
  return hasLibrary || (Object.values(environment).some((value) => value) && !isNixlOtel(pid));
}

/** This process and those that started it: a shell has the variables that it passes on. */
function ancestors(): Set<number> {
  const found = new Set<number>();
  for (let pid = process.pid; pid > 0 && !found.has(pid);) {
    found.add(pid);
    pid = Number(/^PPid:\s*(\d+)/m.exec(fileText(`/proc/${pid}/status`))?.[1] ?? 0);
  }
  return found;
}
