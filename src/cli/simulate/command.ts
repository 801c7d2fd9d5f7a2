/** `nixl-otel simulate`: runs transfer-source, with its flags, until it ends. */
import { spawn, spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { reasonOf } from '../../ground/errors.js';
import { Failure, type ExitCodeNumber } from '../../process/failure.js';
import { StopRequest } from '../../process/stop.js';
import { transferSource } from '../transfer-source.js';

export function defineSimulate(command: Command): void {
  command
    .usage('--dir <dir> [flags]')
    .allowUnknownOption()
    .allowExcessArguments()
    .addHelpText('after', flagsHelp)
    .action(() => simulate(command.args));
}

/** Runs the program, which checks its flags itself. */
async function simulate(flags: readonly string[]): Promise<void> {
  const program = transferSource();
  const stop = new StopRequest();
  const child = spawn(program, ['--with-parent', String(process.pid), ...flags], {
    argv0: 'nixl-otel', // the messages of the program begin with it
    // Ctrl-C in the terminal reaches only this process: a second signal would end the child without its totals.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  void stop.requested.then(() => child.kill('SIGTERM'));
  try {
    await new Promise<void>((resolve, reject) => {
      child.once('error', (error) => reject(new Failure(`${program} cannot be started: ${reasonOf(error)}`)));
      child.once('close', (code, signal) => {
        if (code === 0) resolve();
        else if (code === null) reject(new Failure(`${program} was ended by ${signal}`));
        else reject(new Failure('', code as ExitCodeNumber));
      });
    });
  } finally {
    process.off('exit', kill);
    stop.dispose();
  }
}

/** Returns the help of the program without its line of usage, or the reason why there is no program. */
function flagsHelp(): string {
  try {
    const { stdout, error } = spawnSync(transferSource(), ['--help'], { encoding: 'utf8' });
    if (error !== undefined) throw error;
    return `\n${stdout.slice(stdout.indexOf('\n')).trim()}`;
  } catch (error) {
    return `\nThe flags are unknown: ${reasonOf(error)}`;
  }
}
