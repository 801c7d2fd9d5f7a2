/** Flags of commands, made of the rows of options. */
import { type Command, Option } from 'commander';
import { defaultText, flagName, type OptionRow, type OptionRows } from '../settings/row.js';
import { parserOf } from './flag-parser.js';

/**
 * Adds the flags of these rows. `variables`: whether the command reads the variables of the rows.
 *
 * Only the help contains the defaults: commander would pass them on as if the user had given the flags.
 */
export function addFlags(command: Command, rows: OptionRows, { variables = true } = {}): Command {
  for (const row of Object.values(rows)) {
    if (row.flag === undefined) continue;
    const option = new Option(`${flagName(row)} ${row.flag.takes}`, helpOf(row, variables));
    command.addOption(option.argParser(parserOf(row.shape) as () => never));
  }
  return command;
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
