/** Titles, rights and paths of processes, as /proc shows them. */
import { readFileSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';
import { statsOf } from '../../view/rings/ring-locks.js';
import { attempt } from '../../ground/errors.js';

/** `process 17 (python3)`, or the number alone if the process has ended. */
export function titleOf(pid: number): string {
  const name = isNixlOtel(pid) ? 'nixl-otel' : fileText(`/proc/${pid}/comm`).trim();
  return `process ${pid}${name && ` (${name})`}`;
}

/** Parts of a command line that may name the program: options of Node.js come before it. */
const MOST_PARTS = 8;

/** Returns whether it is a command of this package: `nixl-otel`, or `node dist/cli/main.js` from any folder. */
export function isNixlOtel(pid: number): boolean {
  const parts = fileText(`/proc/${pid}/cmdline`).split('\0').slice(0, MOST_PARTS);
  return parts.some((part) => {
    if (path.basename(part) === 'nixl-otel') return true;
    return path.basename(part) === 'main.js' && reached(pid, part).given.endsWith('/dist/cli/main.js');
  });
}

export interface Rights {
  readonly user: number;
  /** Group ids, also supplementary ones. */
  readonly groups: readonly number[];
}

/** Returns the effective user and groups of a process; undefined if it has ended. */
export function rightsOf(pid: number): Rights | undefined {
  const status = fileText(`/proc/${pid}/status`);
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

/** Returns an empty text if the file cannot be read. */
export function fileText(file: string): string {
  return attempt(() => readFileSync(file, 'utf8')) ?? '';
}

/** Returns undefined if the process has ended. The unit of its start is a hundredth of a second on every machine. */
export function ageSeconds(pid: number): number | undefined {
  const started = Number(fileText(`/proc/${pid}/stat`).split(') ').at(-1)!.split(' ')[19]) / 100;
  const age = parseFloat(fileText('/proc/uptime')) - started;
  return Number.isFinite(age) ? age : undefined;
}
