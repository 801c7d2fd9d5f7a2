/** Processes that use NIXL, as /proc shows them. */
import { readdirSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../../settings/row.js';
import { readAgentProcess } from '../../shm-bridge/agent-process.js';

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
  /** NIXL's variables, as of the start of the process. */
  readonly environment: Environment;
  /** True if it has loaded NIXL's library. A process that only has the variables may be a shell. */
  readonly hasLibrary: boolean;
}

/** Returns the processes that use NIXL, and the number of those that this user may not examine. */
export function nixlProcesses(): { processes: NixlProcess[]; hidden: number } {
  const own = ancestors();
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && !own.has(Number(name)))
    .map(Number);
  const looks = pids.map(lookAt);
  const processes = looks.filter((one): one is NixlProcess => typeof one === 'object' && isNixl(one));
  return { processes, hidden: looks.filter((one) => one === 'hidden').length };
}

/** Returns `gone` if there is no such process, `hidden` if this user may not examine it. */
export function lookAt(pid: number): NixlProcess | 'gone' | 'hidden' {
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, 'latin1');
    const environment = readAgentProcess(pid, VARIABLES)?.environment ?? {};
    return { pid, title: titleOf(pid), environment, hasLibrary: /\/libnixl[^/\n]*\.so/.test(maps) };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return ['EACCES', 'EPERM'].includes(code) ? 'hidden' : 'gone';
  }
}

function isNixl({ pid, environment, hasLibrary }: NixlProcess): boolean {
  return hasLibrary || (Object.values(environment).some((value) => value) && !isNixlOtel(pid));
}

/** Returns whether it is a command of this package, which has the variables for the same reason as this one. */
function isNixlOtel(pid: number): boolean {
  const parts = textOf(`/proc/${pid}/cmdline`).split('\0').slice(0, 3);
  return parts.some((part) => /(^|\/)nixl-otel$|\/dist\/cli\/main\.js$/.test(part));
}

/** `process 17 (python3)`, or the number alone if the process has ended. */
export function titleOf(pid: number): string {
  const name = isNixlOtel(pid) ? 'nixl-otel' : textOf(`/proc/${pid}/comm`).trim();
  return `process ${pid}${name && ` (${name})`}`;
}

/** This process and those that started it: a shell has the variables that it passes on. */
function ancestors(): Set<number> {
  const found = new Set<number>();
  for (let pid = process.pid; pid > 0 && !found.has(pid);) {
    found.add(pid);
    pid = Number(/^PPid:\s*(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
  }
  return found;
}

export interface Rights {
  readonly user: number;
  /** Group ids, also supplementary ones. */
  readonly groups: readonly number[];
}

/** Returns the effective user and groups of a process; undefined if it has ended. */
export function rightsOf(pid: number): Rights | undefined {
  const status = textOf(`/proc/${pid}/status`);
  const numbers = (field: string): number[] =>
    (new RegExp(`^${field}:[ \\t]*(.*)$`, 'm').exec(status)?.[1] ?? '').split(/\s+/).filter(Boolean).map(Number);
  const [user, group] = [numbers('Uid')[1], numbers('Gid')[1]];
  return user === undefined ? undefined : { user, groups: [group!, ...numbers('Groups')] };
}

/** Returns whether permission bits let these rights create files in a directory. Access control lists are not read. */
export function mayCreateIn({ mode, uid, gid }: Stats, { user, groups }: Rights): boolean {
  const bits = user === uid ? mode >> 6 : groups.includes(gid) ? mode >> 3 : mode;
  return user === 0 || (bits & 0o3) === 0o3;
}

/** Returns whether both processes see the same mounts; undefined if this user may not know. */
function sharesMounts(pid: number): boolean | undefined {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/mnt`) === readlinkSync('/proc/self/ns/mnt'));
}

/** Inode of the PID namespace of the host: a constant of Linux. */
const HOST_PID_NAMESPACE = 'pid:[4026531836]';

/** Returns whether every process of the host is visible, with the right to examine it. */
export function seesAllProcesses(): boolean {
  return process.getuid?.() === 0 && readlinkSync('/proc/self/ns/pid') === HOST_PID_NAMESPACE;
}

/** Returns a path of a process, absolute and as this process reaches it, also into another mount namespace. */
export function reached(pid: number, directory: string): { given: string; path: string } {
  const folder = attempt(() => readlinkSync(`/proc/${pid}/cwd`)) ?? '/';
  const given = path.resolve(folder, directory);
  return { given, path: sharesMounts(pid) === false ? `/proc/${pid}/root${given}` : given };
}

/** Returns whether both paths lead to the same file. */
export function isSameFile(a: string, b: string): boolean {
  const [one, other] = [statsOf(a), statsOf(b)];
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

/** Returns undefined if there is no such file, or if this user may not know. */
export function statsOf(file: string): Stats | undefined {
  return attempt(() => statSync(file));
}

/** Returns an empty text if the file cannot be read. */
function textOf(file: string): string {
  return attempt(() => readFileSync(file, 'utf8')) ?? '';
}

/** Returns undefined if `look` throws: the process may have ended, or belong to another user. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
