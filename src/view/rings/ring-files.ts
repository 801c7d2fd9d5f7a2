/** Files below directories of rings. */
import { existsSync, lstatSync, readdirSync, type Stats } from 'node:fs';
import path from 'node:path';
import { reasonOf } from '../../ground/errors.js';

/** As deep as the collector searches: an agent's name may contain folders. */
const MAX_DEPTH = 3;

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

/** Reason for a file that Node.js cannot open by its name, unlike serve, whose native part knows the bytes. */
export const NOT_UTF8 = 'its name is not UTF-8. Only serve reads it; give its agent another name';

/** Returns whether the path was made from bytes that are not UTF-8: Node.js replaces them, and then finds no such file. */
export function isUndecodable(file: string): boolean {
  return file.includes('\ufffd') && !existsSync(file);
}

/** Folder beside the rings, in which `serve` keeps the state of its agents: it has no rings. */
export const STATE_FOLDER = '.nixl-otel';

/** Returns the names of agents: all files below a directory, in order. `complain` gets folders that cannot be read. */
export function filesBelow(directory: string, complain: Complain): string[] {
  return inNumericOrder(unorderedFilesBelow(directory, complain, '', 0));
}

function unorderedFilesBelow(directory: string, complain: Complain, folder: string, depth: number): string[] {
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
    .filter((entry) => {
      const file = path.join(directory, folder, entry.name);
      const isNamed = !isUndecodable(file);
      if (!isNamed) complain({ text: `${file} cannot be opened: ${NOT_UTF8}`, code: undefined });
      return isNamed;
    })
    .flatMap((entry) => {
      const name = path.join(folder, entry.name);
      if (!entry.isDirectory()) return [name];
      return depth < MAX_DEPTH ? unorderedFilesBelow(directory, complain, name, depth + 1) : [];
    });
}

function inNumericOrder(names: readonly string[]): string[] {
  const keyed = names.map((name) => ({ name, key: numericKey(name) }));
  keyed.sort((a, b) => (a.key === b.key ? compare(a.name, b.name) : compare(a.key, b.key)));
  return keyed.map(({ name }) => name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns a text that sorts as people expect of the name, `a-2` before `a-10`: its numbers begin with their length. */
export function numericKey(name: string): string {
  return name.replaceAll(/\d+/g, (digits) => {
    const number = digits.replace(/^0+(?=\d)/, '');
    return String.fromCharCode(ZERO + number.length) + number;
  });
}

const ZERO = 48;
