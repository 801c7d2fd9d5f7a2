/** Command line: commands, help, version and exit codes. */
import { Command, CommanderError } from 'commander';
import { isUnsupported, NixlTelemetryError } from '../errors.js';
import { PACKAGE_VERSION } from '../package.js';
import type { LogFormat } from '../settings/log-words.js';
import { ExitCode, exitCodeOf, Failure } from './process/failure.js';
import {
  guardOutput,
  bufferNotes,
  isOutputLost,
  note,
  type NoteLevel,
  ensureNoteFormat,
  setNoteFormat,
} from './process/output.js';
import { ignoreHangup } from './process/stop.js';

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no rings, 4 incompatible or corrupt, or a platform
without rings, 5 not permitted or busy.`;

interface CommandRow {
  readonly description: string;
  /** Placeholder and description of its argument. */
  readonly argument?: readonly [string, string];
  /** True if its modules log through OpenTelemetry's diag. */
  readonly logs?: true;
  /** Loads the modules of the command, and returns a function that adds its options and its action. */
  readonly load: () => Promise<(command: Command) => void>;
}

/** Commands in the order of the help, which loads none of them. */
const COMMANDS: Readonly<Record<string, CommandRow>> = {
  serve: {
    description: 'export the metrics of all agents in a directory',
    logs: true,
    load: async () => (await import('./serve/command.js')).defineServe,
  },
  read: {
    description: 'print the events of rings',
    argument: ['<ring...>', 'paths of rings'],
    load: async () => (await import('./read/command.js')).defineRead,
  },
  list: {
    description: 'show the rings of a directory',
    load: async () => (await import('./list/command.js')).defineList,
  },
  config: {
    description: 'check and show the configuration',
    logs: true,
    load: async () => (await import('./config/command.js')).defineConfig,
  },
  top: {
    description: 'show live rates of agents',
    load: async () => (await import('./top/command.js')).defineTop,
  },
  demo: {
    description: 'serve the metrics of two demo agents; needs no GPU and no NIXL',
    logs: true,
    load: async () => (await import('./demo/command.js')).defineDemo,
  },
  simulate: {
    description: 'write rings as agents do, at a set rate; needs no GPU and no NIXL',
    load: async () => (await import('./simulate/command.js')).defineSimulate,
  },
};

/** @returns the exit code. Never rejects. */
export async function run(args: readonly string[]): Promise<number> {
  guardOutput();
  ignoreHangup();
  const called = args.find((one) => one !== '--');
  const isServe = called === 'serve';
  // Before its modules are loaded, which would already make the heap larger.
  if (isServe) (await import('./process/heap.js')).keepHeapSmall();
  const hasFormat = isServe || args.some((one) => one.startsWith('--log-format'));
  const formats = hasFormat ? await import('./process/log-format.js') : undefined;
  const format = formats?.formatInFlags(args);
  if (format !== undefined) setNoteFormat(format);
  else if (isServe) bufferNotes();
  const settledFormat = (): LogFormat =>
    ensureNoteFormat(() => formats?.formatInNamedFile(args, process.env) ?? 'text');
  const command = called !== undefined && Object.hasOwn(COMMANDS, called) ? COMMANDS[called] : undefined;
  // A wrong OTEL_LOG_LEVEL is reported by every command.
  if (command?.logs || process.env['OTEL_LOG_LEVEL']) (await import('./process/diag.js')).logDiagToStderr();
  try {
    const isVersion = called === '-V' || called === '--version';
    const names = command !== undefined ? [called!] : isVersion ? [] : Object.keys(COMMANDS);
    const program = buildProgram(names, settledFormat);
    if (command !== undefined) (await command.load())(program.commands[0]!);
    for (const one of [program, ...program.commands]) addCommonOptions(one);
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

/** Makes a program with these commands, which have no options and no actions yet. `settledFormat`: called before a write to stderr. */
function buildProgram(names: readonly string[], settledFormat: () => LogFormat): Command {
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
  for (const name of names) {
    const { description, argument } = COMMANDS[name]!;
    const command = program.command(name).description(description);
    if (argument !== undefined) command.argument(...argument);
  }
  return program;
}

function addCommonOptions(command: Command): void {
  command.version(PACKAGE_VERSION, '-V, --version', 'show the version').helpOption('-h, --help', 'show this help');
  command.addHelpText('after', EXIT_CODES);
}
