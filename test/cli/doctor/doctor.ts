/** Runs of doctor, and processes that it finds. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Finding } from '../../../src/cli/doctor/finding.js';
import { preloadable } from '../../support/preload.js';
import { MAIN, RunningCommand, until } from '../command.js';

export const IS_ROOT = process.getuid!() === 0;

/** Returns whether this process may make a mount namespace. Some containers may not: such tests are skipped. */
export const MAY_UNSHARE = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

export interface Diagnosis {
  readonly code: number | null;
  readonly findings: readonly Finding[];
}

/** Runs doctor to its end. `through`: a command that starts it. */
export async function diagnose(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  through: readonly string[] = [],
): Promise<Diagnosis> {
  const [program = '', ...rest] = [...through, process.execPath, MAIN, 'doctor', '--json', ...args];
  return diagnosisOf(new RunningCommand(program, rest, env));
}

export async function diagnosisOf(command: RunningCommand): Promise<Diagnosis> {
  const { code, stdout, stderr } = await command.ended;
  const findings = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Finding]));
  if (findings.length === 0) throw new Error(`no finding: ${stderr}`);
  return { code, findings };
}

/** Returns the findings about a subject that begins so, without those that are ok. */
export function troubles({ findings }: Diagnosis, subject = ''): Finding[] {
  return findings.filter((one) => one.status !== 'ok' && one.subject.startsWith(subject));
}

/**
 * Starts a process with these variables that has loaded a library of NIXL's name, and writes no ring. `through`: a command
 * that starts it.
 */
export async function startAgentWithoutRing(
  env: NodeJS.ProcessEnv,
  through: readonly string[] = [],
): Promise<RunningCommand> {
  const library = preloadable('libnixl.c');
  const [program = '', ...args] = [...through, 'sleep', '1000'];
  const agent = new RunningCommand(program, args, { ...env, LD_PRELOAD: library });
  await until(() => cmdlineOf(agent.child.pid!) === 'sleep\u{0}1000\u{0}');
  return agent;
}

function cmdlineOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
}
