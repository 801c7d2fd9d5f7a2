/** Command line: commands, help, version and exit codes. */
import { isUnsupported, NixlTelemetryError } from '../ground/errors.js';
import { PACKAGE_VERSION } from '../ground/package.js';
import type { LogFormat } from '../settings/log-words.js';
import type { CommandRows } from './parser.js';
import { ExitCode, exitCodeOf, Failure } from '../process/failure.js';
import { guardOutput, bufferNotes, isOutputLost, note, ensureNoteFormat, setNoteFormat } from '../process/output.js';
import { ignoreHangup, outliveTerminal } from '../process/stop.js';
import type { CommandReference } from './reference.js';

/** Commands in the order of the help, which loads none of them. */
const COMMANDS: CommandRows = {
  serve: {
    description: 'export the metrics of all agents in a directory',
    docs: 'settings.md',
    logs: true,
    load: async () => (await import('./serve/command.js')).defineServe,
  },
  run: {
    description: 'run a command, and report what its NIXL agents did',
    argument: ['<command...>', 'command and its arguments, after --'],
    docs: 'run.md',
    logs: true,
    load: async () => (await import('./run/command.js')).defineRun,
  },
  report: {
    description: 'show what a killed run left, or a report in a file',
    argument: ['<place>', 'directory of rings, or a report in JSON'],
    docs: 'run.md',
    load: async () => (await import('./report/command.js')).defineReport,
  },
  read: {
    description: 'print the events of rings',
    docs: 'limits.md',
    argument: ['<ring...>', 'paths of rings'],
    load: async () => (await import('./read/command.js')).defineRead,
  },
  list: {
    description: 'show the rings of a directory',
    docs: 'troubleshooting.md',
    load: async () => (await import('./list/command.js')).defineList,
  },
  prune: {
    description: 'remove rings that ended agents of engines left',
    docs: 'limits.md',
    load: async () => (await import('./prune/command.js')).definePrune,
  },
  config: {
    description: 'check and show the configuration',
    docs: 'configuration.md',
    logs: true,
    load: async () => (await import('./config/command.js')).defineConfig,
  },
  top: {
    description: 'show live rates of agents',
    docs: 'how-the-numbers-are-made.md',
    load: async () => (await import('./top/command.js')).defineTop,
  },
  incidents: {
    description: 'show what a running serve has found in the last day',
    docs: 'json.md',
    load: async () => (await import('./incidents/command.js')).defineIncidents,
  },
  maintenance: {
    description: 'announce to a running serve that agents will end or be slow',
    docs: 'json.md',
    load: async () => (await import('./maintenance/command.js')).defineMaintenance,
  },
  compare: {
    description: 'tell whether transfers of one run take longer than those of another',
    docs: 'compare.md',
    argument: ['<report...>', 'reports of run: A.json and B.json, or those of side A'],
    load: async () => (await import('./compare/command.js')).defineCompare,
  },
  accept: {
    description: 'tell a running serve that slower transfers are usual from now on',
    docs: 'json.md',
    load: async () => (await import('./accept/command.js')).defineAccept,
  },
  doctor: {
    description: 'find out why there are no metrics, or too few',
    docs: 'doctor.md',
    load: async () => (await import('./doctor/command.js')).defineDoctor,
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
  completion: {
    description: 'print a script that completes commands and flags in a shell',
    argument: ['<shell>', 'shell that runs the script'],
    docs: 'install.md',
    load: async () => {
      const { defineCompletion } = await import('./completion/command.js');
      return (command) => defineCompletion(command, programReference);
    },
  },
  help: {
    description: 'show the help of a command',
    argument: ['[command...]', 'such as serve, or config check'],
    // run() turns it into the flag --help of the command.
    load: () => Promise.resolve((command) => void command.registeredArguments[0]!.choices(Object.keys(COMMANDS))),
  },
};

/** @returns the exit code. Never rejects. */
export async function run(given: readonly string[]): Promise<number> {
  const code = await codeOf(given);
  // A failure loses no output either, if its reader is slow.
  const isLost = await isOutputLost();
  return code === ExitCode.OK && isLost ? ExitCode.FAILED : code;
}

async function codeOf(given: readonly string[]): Promise<number> {
  const [first, ...others] = given;
  const args = first === 'help' ? [...others, '--help'] : given;
  guardOutput();
  ignoreHangup();
  outliveTerminal();
  const called = args.find((one) => one !== '--');
  // Behind it, run has the arguments of a command.
  const flags = called === 'run' && args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const isServe = called === 'serve';
  // Before its modules are loaded, which would already make the heap larger.
  if (isServe) (await import('../process/heap.js')).keepHeapSmall();
  const hasFormat = isServe || flags.some((one) => one.startsWith('--log-format'));
  const formats = hasFormat ? await import('../process/log-format.js') : undefined;
  const format = formats?.formatInFlags(flags);
  if (format !== undefined) setNoteFormat(format);
  else if (isServe) bufferNotes();
  const settledFormat = (): LogFormat =>
    ensureNoteFormat(() => formats?.formatInNamedFile(args, process.env) ?? 'text');
  const name = called !== undefined && Object.hasOwn(COMMANDS, called) ? called : undefined;
  const command = name === undefined ? undefined : COMMANDS[name];
  // A wrong OTEL_LOG_LEVEL is reported by every command.
  if (command?.logs || process.env['OTEL_LOG_LEVEL']) (await import('../process/diag.js')).logDiagToStderr();
  try {
    if (args[0] === '-V' || args[0] === '--version') {
      // Commander would ignore what follows, too. Loading it takes longer than all else that this needs.
      process.stdout.write(`${PACKAGE_VERSION}\n`);
    } else {
      const { parse } = await import('./parser.js');
      return await parse(args, name === undefined ? COMMANDS : { [name]: command! }, settledFormat);
    }
  } catch (error) {
    settledFormat();
    return report(error);
  }
  return ExitCode.OK;
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

/** Returns the reference of all commands, for completions and the man page. */
export async function programReference(): Promise<CommandReference> {
  const [{ wholeProgram }, { referenceOf }] = await Promise.all([import('./parser.js'), import('./reference.js')]);
  return referenceOf(await wholeProgram(COMMANDS));
}
