/** Runs of doctor, and processes that it finds. */
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { vi } from 'vitest';
import type { DoctorFinding } from '../../../src/view/answers/doctor-finding.js';
import { preloadable } from '../../support/preload.js';
import { type Ended, MAIN, RunningCommand, until } from '../command.js';
import { runHere } from '../in-process.js';

export const IS_ROOT = process.getuid!() === 0;

/** Returns whether this process may make a mount namespace. Some containers may not: such tests are skipped. */
export const MAY_UNSHARE = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

export interface Diagnosis {
  readonly code: number | null;
  readonly findings: readonly DoctorFinding[];
}

/** Runs doctor to its end, in short time. `through`: in a process of its own, which this command starts. */
export async function diagnose(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  through?: readonly string[],
): Promise<Diagnosis> {
  const given = ['doctor', '--json', ...args];
  if (through === undefined) return diagnosisIn(await inShortTime(() => runHere(given, env)));
  const [program = '', ...rest] = [...through, process.execPath, MAIN, ...given];
  return diagnosisOf(new RunningCommand(program, rest, { NODE_OPTIONS: IN_SHORT_TIME, ...env }));
}

const FAST_CLOCK = 'const now = performance.now.bind(performance); performance.now = () => now() * 20;';
const IN_SHORT_TIME = `--import=data:text/javascript,${encodeURIComponent(FAST_CLOCK)}`;

/** Lets the clock run faster: doctor watches rings for two seconds, and looks at them as often as it can. */
export async function inShortTime<T>(work: () => Promise<T>): Promise<T> {
  const [now, begunMs] = [performance.now.bind(performance), performance.now()];
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => begunMs + (now() - begunMs) * 20);
  return work().finally(() => clock.mockRestore());
}

export async function diagnosisOf(command: RunningCommand): Promise<Diagnosis> {
  return diagnosisIn(await command.ended);
}

function diagnosisIn({ code, stdout, stderr }: Ended): Diagnosis {
  const findings = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as DoctorFinding]));
  if (findings.length === 0) throw new Error(`no finding: ${stderr}`);
  return { code, findings };
}

/** Returns the findings about a subject that begins so, without those that are ok. */
export function troubles({ findings }: Diagnosis, subject = ''): DoctorFinding[] {
  return findings.filter((one) => one.status !== 'ok' && one.subject.startsWith(subject));
}

/** Returns LD_PRELOAD for libraries of NIXL's names. `hasBackend`: also that of a backend's plug-in, as an agent has. */
export function nixlLibraries(hasBackend = true): string {
  const names = ['libnixl', ...(hasBackend ? ['libplugin_UCX'] : [])];
  const libraries = names.map((name) => preloadable('libnixl.c', name));
  for (const library of libraries) chmodSync(path.dirname(library), 0o755); // also for another user
  return libraries.join(':');
}

/** Starts an agent with these variables that writes no ring. `through`: a command that starts it. */
export async function startAgentWithoutRing(
  env: NodeJS.ProcessEnv,
  through: readonly string[] = [],
  libraries = nixlLibraries(),
): Promise<RunningCommand> {
  const [program = '', ...args] = [...through, 'sleep', '1000'];
  const agent = new RunningCommand(program, args, { ...env, LD_PRELOAD: libraries });
  const at = (name: string): string => readFileSync(`/proc/${agent.child.pid}/${name}`, 'utf8');
  await until(() => at('cmdline') === 'sleep\u{0}1000\u{0}');
  await until(() => libraries.split(':').every((library) => at('maps').includes(library)));
  return agent;
}
