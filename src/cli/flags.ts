/** Flags of commands, made of the rows of options or of single shapes. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { defaultText, flagName, type OptionRow, type OptionRows } from '../settings/row.js';
import { Refusal, type Shape } from '../settings/shape.js';

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

/** Makes commander's parser of a shape. */
export function parserOf<T>({ parse }: Shape<T>): (text: string, before?: unknown) => T {
  return (text, before) => {
    try {
      return parse!(text, before);
    } catch (error) {
      if (error instanceof Refusal) throw new InvalidArgumentError(`Allowed: ${error.message}.`);
      throw error;
    }
  };
}
