/** The command line: commands, help, version, and which exit code comes of what. */
import { Command, CommanderError } from 'commander';
import { NixlTelemetryError } from '../errors.js';
import { PACKAGE_VERSION } from '../instrumentation/version.js';
import { addConfig } from './config/command.js';
import { addDemo } from './demo/command.js';
import { ExitCode, exitCodeOf, Failure } from './process/failure.js';
import { addList } from './list/command.js';
import { formatInFlags, formatInNamedFile } from './process/log-format.js';
import {
  guardOutput,
  bufferNotes,
  isOutputLost,
  type LogFormat,
  note,
  type NoteLevel,
  ensureNoteFormat,
  setNoteFormat,
  logDiagToStderr,
} from './process/output.js';
import { addRead } from './read/command.js';
import { addServe } from './serve/command.js';
import { ignoreHangup } from './process/stop.js';
import { addTop } from './top/command.js';

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no rings, 4 incompatible or corrupt, 5 not permitted or busy.`;

/** @returns the exit code. Never rejects. */
export async function run(args: readonly string[]): Promise<number> {
  guardOutput();
  ignoreHangup();
  const format = formatInFlags(args);
  if (format !== undefined) setNoteFormat(format);
  else if (args[0] === 'serve') bufferNotes();
  const settledFormat = (): LogFormat => ensureNoteFormat(() => formatInNamedFile(args, process.env) ?? 'text');
  logDiagToStderr();
  try {
    const program = buildProgram(settledFormat);
    await program.parseAsync(upToUnknownCommand(program, args), { from: 'user' });
  } catch (error) {
    settledFormat();
    // Commander throws to end after --help and --version, too.
    if (!(error instanceof CommanderError)) return report(error);
    if (error.exitCode !== 0) return ExitCode.USAGE;
  }
  return (await isOutputLost()) ? ExitCode.FAILED : ExitCode.OK;
}

/** Commander would answer a --help behind a command that does not exist: that command alone is then what is told. */
function upToUnknownCommand({ commands }: Command, args: readonly string[]): string[] {
  const [name, ...rest] = args;
  if (name === undefined || name.startsWith('-') || commands.length === 0) return [...args];
  const command = commands.find((one) => one.name() === name);
  return command === undefined ? [name] : [name, ...upToUnknownCommand(command, rest)];
}

function report(error: unknown): number {
  if (error instanceof Failure) {
    note(error.message, 'error');
    return error.exitCode;
  }
  if (error instanceof NixlTelemetryError) {
    note(error.message, 'error');
    return error.code === 'CONFIG_INVALID' ? ExitCode.USAGE : exitCodeOf(error.state);
  }
  note(`unexpected error: ${(error instanceof Error && error.stack) || String(error)}`, 'error');
  return ExitCode.FAILED;
}

/** `settledFormat`: called before anything is written to stderr. */
function buildProgram(settledFormat: () => LogFormat): Command {
  const program = new Command('nixl-otel');
  const write = (text: string, level: NoteLevel): void => {
    if (settledFormat() === 'json') note(text.replace(/^error: /, '').trim(), level);
    else process.stderr.write(text);
  };
  program
    .configureOutput({ outputError: (text) => write(text, 'error'), writeErr: (text) => write(text, 'info') })
    .description('Turns the telemetry that NVIDIA NIXL agents write into shared memory into OpenTelemetry metrics.')
    .exitOverride()
    .showHelpAfterError('--help shows the usage.')
    .helpCommand(false);
  addServe(program);
  addRead(program);
  addList(program);
  addConfig(program);
  addTop(program);
  addDemo(program);
  for (const command of [program, ...program.commands]) {
    command.version(PACKAGE_VERSION, '-V, --version', 'show the version').helpOption('-h, --help', 'show this help');
    command.addHelpText('after', EXIT_CODES);
  }
  return program;
}
