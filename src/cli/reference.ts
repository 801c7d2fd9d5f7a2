/** Commands, flags and arguments as data, for completions and the man page: read from the program that prints --help. */
import type { Argument, Command, Option } from 'commander';
import { wordsOf } from './flags.js';

export interface ValueReference {
  /** Name of the placeholder: `dir` of `<dir>`. */
  readonly name: string;
  /** Words that are allowed or usual; empty if there is no list of them. */
  readonly words: readonly string[];
  readonly files: 'directories' | 'files' | 'none';
}

export interface FlagReference {
  /** `-h, --help` or `--dir <dir>`. */
  readonly term: string;
  /** With its dashes, the long one last. */
  readonly names: readonly string[];
  readonly description: string;
  /** Heading in the help. */
  readonly group: string;
  /** Undefined for a flag without a value. */
  readonly value: ValueReference | undefined;
}

export interface CommandReference {
  readonly name: string;
  readonly description: string;
  /** Line of usage, without the name of the program and of the commands above. */
  readonly usage: string;
  readonly flags: readonly FlagReference[];
  readonly arguments: readonly ValueReference[];
  readonly commands: readonly CommandReference[];
  /** Text below the flags in the help. */
  readonly notes: string;
}

export function referenceOf(command: Command): CommandReference {
  const help = command.createHelp();
  const notes = notesOf(command);
  return {
    name: command.name(),
    description: command.description(),
    usage: command.usage(),
    flags: [
      ...help.visibleOptions(command).map((option) => flagOf(option, help.optionDescription(option))),
      ...flagsIn(notes),
    ],
    arguments: command.registeredArguments.map(argumentOf),
    commands: command.commands.map(referenceOf),
    notes,
  };
}

function flagOf(option: Option, description: string): FlagReference {
  const [, name] = /[<[](.*?)(?:\.\.\.)?[>\]]$/.exec(option.flags) ?? [];
  return {
    term: option.flags,
    names: [option.short, option.long].filter((one) => one !== undefined),
    description,
    group: option.helpGroupHeading ?? 'Options:',
    value: name === undefined ? undefined : { name, words: wordsOf(option), files: filesOf(name) },
  };
}

/** Returns the flags that the text lists, as for a program with its own flags: `  --rate N    transfers per second`. */
function flagsIn(notes: string): FlagReference[] {
  const lines = notes.matchAll(/^ {2}(--[a-z-]+)(?: (\S+))? {2,}(\S.*)$/gm);
  return [...lines].map(([, flag, placeholder, description]) => {
    const name = placeholder?.toLowerCase();
    const value = name === undefined ? undefined : { name, words: [], files: filesOf(name) };
    return { term: `${flag} ${placeholder ?? ''}`.trim(), names: [flag!], description: description!, group: '', value };
  });
}

function argumentOf(argument: Argument): ValueReference {
  const name = argument.name();
  return { name, words: argument.argChoices ?? [], files: filesOf(name) };
}

function filesOf(placeholder: string): ValueReference['files'] {
  if (placeholder === 'dir') return 'directories';
  return ['file', 'ring'].includes(placeholder) ? 'files' : 'none';
}

/** Returns what addHelpText() has added. */
function notesOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => (text += part),
    getOutHelpWidth: () => 80,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}
