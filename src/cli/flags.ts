/** Flags of commands, made of the rows of options. */
import { type Command, Option } from 'commander';
import { defaultText, flagName, GROUPS, type OptionRow, type OptionRows } from '../settings/row.js';
import { parserOf } from '../process/flag-parser.js';

/**
 * Adds the flags of these rows. `variables`: whether the command reads the variables of the rows.
 *
 * Only the help contains the defaults: commander would pass them on as if the user had given the flags.
 */
export function addFlags(command: Command, rows: OptionRows, { variables = true } = {}): Command {
  const flagged = Object.values(rows).filter(({ flag }) => flag !== undefined);
  for (const row of flagged.sort((a, b) => placeOf(a) - placeOf(b))) {
    const option = new RowOption(row, helpOf(row, variables));
    if (row.group !== undefined) option.helpGroup(`${row.group}:`);
    command.addOption(option.argParser(parserOf(row.shape) as () => never));
  }
  return command;
}

/** Flags without a heading are the first ones. */
function placeOf({ group }: OptionRow): number {
  return group === undefined ? -1 : GROUPS.indexOf(group);
}

class RowOption extends Option {
  readonly words: readonly string[];

  constructor(row: OptionRow, description: string) {
    super(`${flagName(row)} ${row.flag!.takes}`, description);
    this.words = row.words ?? (row.shape.schema?.['enum'] as string[] | undefined) ?? [];
  }
}

/** Returns the allowed or usual words of a flag; none if there is no list of them. */
export function wordsOf(option: Option): readonly string[] {
  return option instanceof RowOption ? option.words : (option.argChoices ?? []);
}

function helpOf(row: OptionRow, hasVariables: boolean): string {
  const names = hasVariables ? (row.variables ?? []).map(({ name }) => name) : [];
  const usual = defaultText(row);
  const notes = [
    ...(names.length === 0 ? [] : [`env: ${names.join(', ')}`]),
    ...(usual === undefined ? [] : [`default: ${usual}`]),
  ].join('; ');
  const repeats = row.flag?.repeats ? '; may be repeated' : '';
  return `${row.description}${repeats}${notes && ` (${notes})`}`.replaceAll('`', '');
}
