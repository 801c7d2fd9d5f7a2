/** Option --dir of commands that only read rings. */
import path from 'node:path';
import type { Command } from 'commander';
import { DIRECTORIES } from '../settings/directories-row.js';
import { givenValue } from '../settings/given.js';
import { withNixlConfig } from '../settings/nixl-config.js';
import { parserOf } from '../process/flag-parser.js';

export const DIRECTORY_VARIABLE = DIRECTORIES.variables[0].name;

export function addDirectoryOption(command: Command): Command {
  return command.option(
    '--dir <dir>',
    `directory of rings; may be repeated (env: ${DIRECTORY_VARIABLE})`,
    parserOf(DIRECTORIES.shape),
  );
}

/** Returns the directories of the flag or the variable as absolute paths; undefined if neither is given. */
export function directoriesOf(dir: readonly string[] | undefined): string[] | undefined {
  const layers = { given: { directories: dir }, givenBy: 'option', environment: withNixlConfig(process.env) } as const;
  const named = givenValue(DIRECTORIES, 'directories', layers);
  if (named === undefined || named === 'by the SDK') return undefined;
  return [...new Set((named.value as readonly string[]).map((directory) => path.resolve(directory)))];
}
