/** The command of a run: a child in the process group of this process, as under `time`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { reasonOf } from '../../ground/errors.js';
import type { Environment } from '../../settings/row.js';

export interface CommandEnd {
  /** As a shell has it. */
  readonly exitCode: number;
  readonly signal?: NodeJS.Signals;
  /** Why the command could not be started. */
  readonly problem?: string;
}

/** The terminal sends them to the command as well. */
const IGNORED = ['SIGINT', 'SIGQUIT'] as const;
/** Each is passed on once: a supervisor that repeats it means this process, too. */
const PASSED_ON = ['SIGTERM', 'SIGHUP'] as const;

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export class CommandProcess {
  readonly pid: number | undefined;
  /** Never rejects. */
  readonly ended: Promise<CommandEnd>;
  readonly #child: ChildProcess;

  /** Ignores and passes on signals until the end of the command. */
  constructor([program, ...args]: readonly string[], environment: Environment) {
    for (const signal of IGNORED) process.on(signal, ignore);
    const listeners = PASSED_ON.map((signal) => [signal, () => void this.#child.kill(signal)] as const);
    for (const [signal, passOn] of listeners) process.once(signal, passOn);
    this.#child = spawn(program!, args, { stdio: 'inherit', env: environment });
    this.pid = this.#child.pid;
    this.ended = new Promise<CommandEnd>((resolve) => {
      this.#child.once('error', (error: NodeJS.ErrnoException) => resolve(failedStart(program!, error)));
      this.#child.once('exit', (code, signal) => {
        resolve(signal === null ? { exitCode: code! } : { exitCode: 128 + constants.signals[signal], signal });
      });
    }).finally(() => {
      for (const signal of IGNORED) process.off(signal, ignore);
      for (const [signal, passOn] of listeners) process.off(signal, passOn);
    });
  }
}

function ignore(): void {}

function failedStart(program: string, error: NodeJS.ErrnoException): CommandEnd {
  if (error.code === 'ENOENT') return { exitCode: NOT_FOUND, problem: `${program}: command not found` };
  const reason = error.code === 'EACCES' ? 'permission denied' : reasonOf(error);
  return { exitCode: NOT_EXECUTABLE, problem: `${program}: ${reason}` };
}
