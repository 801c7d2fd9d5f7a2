/** Parser of the command line: flags, help and wrong usage. */
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { PACKAGE_VERSION, packageFolder } from '../ground/package.js';
import type { LogFormat } from '../settings/log-words.js';
import { withinColumns } from './help-text.js';
import { ExitCode, type ExitCodeNumber } from '../process/failure.js';
import { note, type NoteLevel } from '../process/output.js';
import { attempt } from '../ground/errors.js';

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 no rings, 4 incompatible or corrupt, or a platform
without rings, 5 not permitted or busy.`;

/** Columns of help where the screen has fewer, or there is none. */
const LEAST_COLUMNS = 80;

export interface CommandRow {
  readonly description: string;
  /** Placeholder and description of its argument. */
  readonly argument?: readonly [string, string];
  /** Its page in docs/. */
  readonly docs?: string;
  /** True if its modules log through OpenTelemetry's diag. */
  readonly logs?: true;
  /** Loads the modules of the command, and returns a function that adds its options and its action. */
  readonly load: () => Promise<(command: Command) => void>;
}

export type CommandRows = Readonly<Record<string, CommandRow>>;

/**
 * Runs the command that the arguments name. `rows`: this command alone, whose modules are loaded, or all commands if the arguments
 * name none of them. `settledFormat`: called before a write to stderr. Returns OK also after help and version, USAGE for wrong
 * arguments.
 * @throws what the command throws
 */
export async function parse(
  args: readonly string[],
  rows: CommandRows,
  settledFormat: () => LogFormat,
): Promise<ExitCodeNumber> {
  const program = buildProgram(rows, settledFormat);
  const [row, ...others] = Object.values(rows);
  try {
    if (others.length === 0) (await row!.load())(program.commands[0]!);
    for (const one of [program, ...program.commands])
      addCommonFlags(one).addHelpText('after', () => ending(rows[one.name()]));
    await program.parseAsync(upToUnknownCommand(program, args), { from: 'user' });
    return ExitCode.OK;
  } catch (error) {
    // Commander throws to end after --help and --version, too.
    if (!(error instanceof CommanderError)) throw error;
    settledFormat();
    return error.exitCode === 0 ? ExitCode.OK : ExitCode.USAGE;
  }
}

/** Drops the arguments after an unknown command: commander would obey a --help among them and not report the mistake. */
function upToUnknownCommand({ commands }: Command, args: readonly string[]): string[] {
  const [name, ...rest] = args;
  if (name === undefined || name.startsWith('-') || commands.length === 0) return [...args];
  const command = commands.find((one) => one.name() === name);
  return command === undefined ? [name] : [name, ...upToUnknownCommand(command, rest)];
}

/** Makes a program with these commands, which have no options and no actions yet. */
function buildProgram(rows: CommandRows, settledFormat: () => LogFormat): Command {
  const program = new Command('nixl-otel');
  const write = (text: string, level: NoteLevel): void => {
    settledFormat();
    note(text.replace(/^error: /, '').trim(), level);
  };
  program
    .configureOutput({
      writeOut: (text) =>
        process.stdout.write(withinColumns(text, Math.max(LEAST_COLUMNS, process.stdout.columns ?? 0))),
      outputError: (text) => write(text, 'error'),
      writeErr: (text) => write(text, 'info'),
    })
    .description('Turns the telemetry that NVIDIA NIXL agents write into shared memory into OpenTelemetry metrics.')
    .exitOverride()
    .showHelpAfterError('--help shows the usage.')
    .helpCommand(false);
  for (const [name, { description, argument }] of Object.entries(rows)) {
    const command = program.command(name).description(description);
    if (argument !== undefined) command.argument(...argument);
  }
  return program;
}

function addCommonFlags(command: Command): Command {
  return command
    .version(PACKAGE_VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help');
}

/** Returns the end of the help of a command, or of the program: exit codes, and the place of the documentation. */
function ending({ docs = '' }: Partial<CommandRow> = {}): string {
  const folder = attempt(() => packageFolder('the documentation'));
  if (folder === undefined) return EXIT_CODES; // a bundle has no documentation
  return `${EXIT_CODES}\nDocumentation: ${fileURLToPath(new URL(`docs/${docs}`, folder))}`;
}

/** Makes a program with all flags of these commands, as data for a reference. */
export async function wholeProgram(rows: CommandRows): Promise<Command> {
  const program = buildProgram(rows, () => 'text');
  for (const command of program.commands) (await rows[command.name()]!.load())(command);
  for (const one of [program, ...program.commands]) addCommonFlags(one);
  return program.addHelpText('after', EXIT_CODES);
}
