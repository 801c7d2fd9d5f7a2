/** Command line: commands, help, version and exit codes. */
import { Command, CommanderError } from 'commander';
import { isUnsupported, NixlTelemetryError } from '../errors.js';
import { PACKAGE_VERSION } from '../package.js';
import { ExitCode, exitCodeOf, Failure } from './process/failure.js';
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
import { ignoreHangup } from './process/stop.js';

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no rings, 4 incompatible or corrupt, or a platform
without rings, 5 not permitted or busy.`;

/** Functions that add a command, in the order of the help. A command's modules are loaded only if it is called. */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import('./serve/command.js')).addServe,
  read: async () => (await import('./read/command.js')).addRead,
  list: async () => (await import('./list/command.js')).addList,
  config: async () => (await import('./config/command.js')).addConfig,
  top: async () => (await import('./top/command.js')).addTop,
  demo: async () => (await import('./demo/command.js')).addDemo,
  simulate: async () => (await import('./simulate/command.js')).addSimulate,
};

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
    const program = await buildProgram(args[0], settledFormat);
    await program.parseAsync(upToUnknownCommand(program, args), { from: 'user' });
  } catch (error) {
    settledFormat();
    // Commander throws to end after --help and --version, too.
    if (!(error instanceof CommanderError)) return report(error);
    if (error.exitCode !== 0) return ExitCode.USAGE;
  }
  return (await isOutputLost()) ? ExitCode.FAILED : ExitCode.OK;
}

/** Drops the arguments after an unknown command: commander would obey a --help among them and not report the mistake. */
function upToUnknownCommand({ commands }: Command, args: readonly string[]): string[] {
  const [name, ...rest] = args;
  if (name === undefined || name.startsWith('-') || commands.length === 0) return [...args];
  const command = commands.find((one) => one.name() === name);
  return command === undefined ? [name] : [name, ...upToUnknownCommand(command, rest)];
}

function report(error: unknown): number {
  if (error instanceof Failure) {
    if (error.message !== '') note(error.message, 'error');
    return error.exitCode;
  }
  if (error instanceof NixlTelemetryError) {
    note(error.message, 'error');
    if (isUnsupported(error)) return ExitCode.INCOMPATIBLE;
    return error.code === 'CONFIG_INVALID' ? ExitCode.USAGE : exitCodeOf(error.state);
  }
  note(`unexpected error: ${(error instanceof Error && error.stack) || String(error)}`, 'error');
  return ExitCode.FAILED;
}

/** Adds the command `called`, or all commands for help and for mistakes. `settledFormat`: called before a write to stderr. */
async function buildProgram(called: string | undefined, settledFormat: () => LogFormat): Promise<Command> {
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
  const isCommand = called !== undefined && Object.hasOwn(COMMANDS, called);
  const isVersion = called === '-V' || called === '--version';
  const names = isCommand ? [called] : isVersion ? [] : Object.keys(COMMANDS);
  for (const name of names) (await COMMANDS[name]!())(program);
  for (const command of [program, ...program.commands]) {
    command.version(PACKAGE_VERSION, '-V, --version', 'show the version').helpOption('-h, --help', 'show this help');
    command.addHelpText('after', EXIT_CODES);
  }
  return program;
}
