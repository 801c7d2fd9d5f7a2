/** The command line: commands, help, version, and which exit code comes of what. */
import { Command, CommanderError } from 'commander';
import { NixlTelemetryError } from '../errors.js';
import { PACKAGE_VERSION } from '../instrumentation/version.js';
import { addDemo } from './demo.js';
import { Failure } from './failure.js';
import { muteClosedPipes, note, useStderrForDiag } from './output.js';
import { addServe } from './serve/command.js';

export const ExitCode = { OK: 0, FAILED: 1, USAGE: 2 } as const;

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 wrong usage.`;

/** @returns the exit code. Never rejects. */
export async function run(args: readonly string[]): Promise<number> {
  muteClosedPipes();
  useStderrForDiag();
  try {
    await buildProgram().parseAsync(args, { from: 'user' });
    return ExitCode.OK;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.OK : ExitCode.USAGE;
    if (!(error instanceof NixlTelemetryError) && !(error instanceof Failure)) {
      note(`unexpected error: ${(error instanceof Error && error.stack) || String(error)}`);
      return ExitCode.FAILED;
    }
    note(error.message, 'error');
    return error instanceof NixlTelemetryError && error.code === 'CONFIG_INVALID' ? ExitCode.USAGE : ExitCode.FAILED;
  }
}

function buildProgram(): Command {
  const program = new Command('nixl-otel');
  program
    .description('Turns the telemetry that NVIDIA NIXL agents write into shared memory into OpenTelemetry metrics.')
    .exitOverride()
    .showHelpAfterError('--help shows the usage.')
    .helpCommand(false);
  addServe(program);
  addDemo(program);
  for (const command of [program, ...program.commands]) {
    command.version(PACKAGE_VERSION, '-V, --version', 'show the version').helpOption('-h, --help', 'show this help');
    command.addHelpText('after', EXIT_CODES);
  }
  return program;
}
