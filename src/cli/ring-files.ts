/** Directories of rings, and the files below them. */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { reasonOf } from '../errors.js';
import { OPTION_ROWS } from '../settings/option-rows.js';
import { resolveRow } from '../settings/resolve.js';
import { parserOf } from './flags.js';

const { directories: DIRECTORIES } = OPTION_ROWS;
export const DIRECTORY_VARIABLE = DIRECTORIES.variables[0].name;

/** As deep as the collector searches: an agent's name may contain folders. */
const MAX_DEPTH = 3;

export function addDirectoryOption(command: Command): Command {
  return command.option(
    '--dir <dir>',
    `directory of rings; may be repeated (env: ${DIRECTORY_VARIABLE})`,
    parserOf(DIRECTORIES.shape),
  );
}

/** Returns the directories of the flag or the variable as absolute paths; undefined if neither is given. */
export function directoriesOf(dir: readonly string[] | undefined): string[] | undefined {
  const layers = { given: { directories: dir }, givenBy: 'option', environment: process.env } as const;
  const named = resolveRow(OPTION_ROWS, 'directories', layers)?.value as readonly string[] | undefined;
  return named && [...new Set(named.map((directory) => path.resolve(directory)))];
}

/** A file or folder that the system refuses to show. `code`: of its error, such as EACCES. */
export interface Complaint {
  readonly text: string;
  readonly code: string | undefined;
}

export type Complain = (complaint: Complaint) => void;

export function isNotPermitted({ code }: Complaint): boolean {
  return code === 'EACCES' || code === 'EPERM';
}

/** Returns undefined if the file is gone, or without permission: a user may be able to list a directory but not enter it. */
export function statOf(file: string, complain: Complain): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    complain({ text: `files in ${path.dirname(file)} cannot be examined: ${code}`, code });
    return undefined;
  }
}

/** Folder beside the rings, in which `serve` keeps the state of its agents: it has no rings. */
const STATE_FOLDER = '.nixl-otel';

/** Returns the names of agents: all files below a directory, in order. `complain` gets folders that cannot be read. */
export function filesBelow(directory: string, complain: Complain, folder = '', depth = 0): string[] {
  let entries;
  try {
    entries = readdirSync(path.join(directory, folder), { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const missing = code === 'ENOENT' ? 'it does not exist; agents do not create it' : reasonOf(error);
    complain({ text: `${path.join(directory, folder)} cannot be read: ${missing}`, code });
    return [];
  }
  return entries
    .filter((entry) => !(entry.isDirectory() && entry.name === STATE_FOLDER))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const name = path.join(folder, entry.name);
      if (!entry.isDirectory()) return [name];
      return depth < MAX_DEPTH ? filesBelow(directory, complain, name, depth + 1) : [];
    });
}
