/** File with what keys have chosen on the screen. The next start begins with it. */
import { randomUUID } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isObject } from '../../ground/arguments.js';
import { attempt, reasonOf } from '../../ground/errors.js';
import { boolean, type Shape, word, wrong } from '../../settings/shape.js';
import { SORT_KEYS } from '../columns.js';
import { INTERVAL_MS } from '../pace.js';
import type { UiState } from './keys.js';

/** Format of the file. A new choice needs no new version: others keep what they do not know. */
const VERSION = 1;
const MOST_BYTES = 65_536;

/** A filter is none of them: at the next start it would hide agents. */
const SHAPES = {
  sort: word(SORT_KEYS),
  reverse: boolean,
  problemsFirst: boolean,
  totals: boolean,
  all: boolean,
  topFive: boolean,
  lastMinute: boolean,
  mouse: boolean,
  intervalMs: INTERVAL_MS,
} satisfies { readonly [Key in keyof UiState]?: Shape<UiState[Key]> };

type Key = keyof typeof SHAPES;
const KEYS = Object.keys(SHAPES) as Key[];
export type Choices = Partial<Pick<UiState, Key>>;

/** Returns the choices that differ. A direction belongs to its column. */
export function changedChoices(before: UiState, after: UiState): Choices {
  const changed = KEYS.filter((key) => before[key] !== after[key]);
  const kept = changed.includes('sort') || changed.includes('reverse') ? [...changed, 'sort', 'reverse'] : changed;
  return Object.fromEntries(kept.map((key) => [key, after[key as Key]]));
}

interface ChoicesContent {
  readonly choices: Choices;
  /** All keys, also those of later versions. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Why choices of the file are not used. */
  readonly problem?: string;
  /** True if the file must stay as it is. */
  readonly isLocked?: boolean;
}

const NOTHING: ChoicesContent = { choices: {}, fields: {} };

export class ChoicesFile {
  readonly #path: string | undefined;
  readonly #content: ChoicesContent;
  #changed: Choices = {};

  /** Reads the file. Never throws. */
  constructor(env: NodeJS.ProcessEnv = process.env) {
    this.#path = pathOf(env);
    this.#content = this.#path === undefined ? NOTHING : read(this.#path);
  }

  get choices(): Choices {
    return this.#content.choices;
  }

  /** Why defaults are used in place of choices in the file. */
  get problem(): string | undefined {
    return this.#content.problem;
  }

  change(changed: Choices): void {
    this.#changed = { ...this.#changed, ...changed };
  }

  /** Writes what was changed, over what other processes have written. Returns the reason if that fails. Never throws. */
  save(): string | undefined {
    const changed = this.#changed;
    this.#changed = {};
    if (Object.keys(changed).length === 0) return undefined;
    if (this.#path === undefined) return 'there is no home directory for the choices of top';
    const { fields, problem, isLocked } = read(this.#path);
    if (isLocked === true) return problem;
    try {
      replace(this.#path, `${JSON.stringify({ ...fields, version: VERSION, ...changed }, undefined, 2)}\n`);
      return undefined;
    } catch (error) {
      return `${this.#path} cannot be written: ${reasonOf(error)}`;
    }
  }
}

/** Returns the path of the file by the XDG Base Directory Specification, which ignores relative paths. */
function pathOf({ XDG_CONFIG_HOME: configured = '' }: NodeJS.ProcessEnv): string | undefined {
  // The system may know no home directory of this user.
  const folder = path.isAbsolute(configured) ? configured : path.join(attempt(homedir) ?? '', '.config');
  return path.isAbsolute(folder) ? path.join(folder, 'nixl-otel', 'top.json') : undefined;
}

function read(file: string): ChoicesContent {
  let text: string;
  try {
    const status = statSync(file, { throwIfNoEntry: false });
    if (status === undefined) return NOTHING;
    if (!status.isFile() || status.size > MOST_BYTES) return locked(`${file} is no file of top's choices`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return locked(`${file} cannot be read: ${reasonOf(error)}`);
  }
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch (error) {
    return damaged(file, reasonOf(error));
  }
  if (!isObject(fields)) return damaged(file, 'it has no JSON object');
  const { version } = fields;
  if (typeof version === 'number' && version > VERSION) {
    return locked(`${file} belongs to a newer nixl-otel: its version is ${version}, this one knows ${VERSION}`);
  }
  if (version !== VERSION) return damaged(file, `"version" ${wrong(version, String(VERSION))}`);
  const known = KEYS.filter((key) => fields[key] !== undefined);
  const refused = new Map<Key, string>();
  for (const key of known) {
    const [problem] = SHAPES[key].problems(fields[key]);
    if (problem !== undefined) refused.set(key, `"${key}" ${problem.text}`);
  }
  // A direction belongs to its column.
  const used = known.filter((key) => !refused.has(key) && !(key === 'reverse' && refused.has('sort')));
  const problem = refused.size > 0 && { problem: `${file}: ${[...refused.values()].join(', ')}` };
  return { choices: Object.fromEntries(used.map((key) => [key, fields[key]])), fields, ...problem };
}

function locked(problem: string): ChoicesContent {
  return { ...NOTHING, problem, isLocked: true };
}

/** The next change replaces such a file. */
function damaged(file: string, reason: string): ChoicesContent {
  return { ...NOTHING, problem: `${file} is damaged: ${reason}` };
}

/** Replaces a file as a whole, or the one that a link leads to. */
function replace(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const target = targetOf(file);
  const part = `${target}.${randomUUID()}`;
  try {
    writeFileSync(part, text, { flag: 'wx', mode: 0o600, flush: true });
    renameSync(part, target);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

function targetOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // There is none yet, perhaps at the end of a link.
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return file;
    return targetOf(path.resolve(realpathSync(path.dirname(file)), readlinkSync(file)));
  }
}
