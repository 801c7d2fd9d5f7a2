/** Whether this process can see all processes of its host, and the right that it lacks otherwise. Linux only. */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Inode of the PID namespace of the host: a constant of Linux. All processes of a host are visible there. */
const HOST_PID_NAMESPACE = 'pid:[4026531836]';
/** Bit of the capability in CapEff. */
const SYS_PTRACE = 1n << 19n;

/** `namespace`: of processes. `user`: not root. `capability`: root without it. `other`: root with it. */
export interface MissingSight {
  readonly kind: 'namespace' | 'user' | 'capability' | 'other';
  /** What hides processes, after `because`. */
  readonly why: string;
  /** What to change, or what follows if that is not known. */
  readonly mend: string;
}

/** Returns the pids of the processes that are visible. @throws errors of the file system */
export function visiblePids(procDir = '/proc'): number[] {
  return readdirSync(procDir)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

export function isInHostPidNamespace(procDir = '/proc'): boolean {
  return readlinkSync(join(procDir, 'self/ns/pid')) === HOST_PID_NAMESPACE;
}

/**
 * Returns why a writer of a ring may be invisible; nothing if all processes of the host are visible, with the right to examine
 * them. Looks no further than the first process that is hidden. `procDir`, `user`: for tests.
 */
export function missingSights(procDir = '/proc', user = process.geteuid!()): MissingSight[] {
  const pids = visiblePids(procDir);
  // With the mount option hidepid, /proc leaves out the processes that this one may not examine, the first one among them.
  const hidden = pids.includes(1) ? pids.find((pid) => !mayExamine(pid, procDir)) : 1;
  return [
    ...(isInHostPidNamespace(procDir) ? [] : [NAMESPACE]),
    ...(hidden === undefined ? [] : [missingRight(procDir, user, hidden)]),
  ];
}

const NAMESPACE: MissingSight = {
  kind: 'namespace',
  why: 'this process is in a PID namespace of its own and sees no process outside',
  mend: 'share the PID namespace: hostPID or shareProcessNamespace in Kubernetes, --pid=host in Docker',
};

function missingRight(procDir: string, user: number, hidden: number): MissingSight {
  if (user !== 0) {
    const why = `user ${user} may not examine processes of other users`;
    return { kind: 'user', why, mend: "run it as the agents' user, or as root with the capability SYS_PTRACE" };
  }
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync(join(procDir, 'self/status'), 'latin1'))?.[1];
  if ((BigInt(`0x${effective ?? '0'}`) & SYS_PTRACE) === 0n) {
    const why = 'root without the capability SYS_PTRACE may not examine all processes';
    return { kind: 'capability', why, mend: 'add the capability SYS_PTRACE' };
  }
  // A user namespace, a security module or an unreadable program of that process: /proc does not tell which.
  return {
    kind: 'other',
    why: `not even root with the capability SYS_PTRACE may examine process ${hidden}`,
    mend: 'an end is seen only of agents that were seen alive',
  };
}

/** Returns true for a process that has ended meanwhile, too. */
export function mayExamine(pid: number, procDir = '/proc'): boolean {
  try {
    // The kernel checks the right when the file is opened.
    closeSync(openSync(join(procDir, String(pid), 'maps'), 'r'));
    return true;
  } catch (error) {
    return ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}
