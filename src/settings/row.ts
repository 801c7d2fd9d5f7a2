/** The row of an option, and what is derived from rows: value types, texts, and the shape of a file's section. */
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { BuilderName } from './metric-builder.js';
import { type Path, type Problem, Refusal, type Shape, wrong } from './shape.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Variable {
  readonly name: string;
  /** Parses the text. Returns undefined if it has no value for this option. Default: the shape's parser. */
  readonly parse?: (text: string, environment: Environment) => unknown;
  /** The SDK reads the variable itself: if it is set, no later variable, file or default counts. */
  readonly readBySdk?: true;
  /** Only `nixl-otel` reads it. */
  readonly serveOnly?: true;
  /** For the table in the docs. */
  readonly note?: string;
}

/** `profile`: all readers of a source. */
export type Part = 'source' | 'tally' | 'profile' | 'instruments';

/**
 * `histograms`: an exporter that can export exponential histograms. `loopback`: the HTTP server on a loopback address. `port`: the HTTP server on a port other than 0. `push`: an
 * exporter that pushes. `search`: an exporter that is found by its name. `server`: the HTTP server. `socket`: the HTTP server on
 * a Unix socket. `webConfig`: the HTTP server with a web configuration.
 */
export type Need =
  'console' | 'histograms' | 'loopback' | 'otlp' | 'port' | 'push' | 'search' | 'server' | 'socket' | 'webConfig';

/** Headings of flags, in the order of --help. */
export const GROUPS = ['Rings', 'Series', 'HTTP server', 'Exporters', 'OTLP', 'Configuration and log'] as const;

/**
 * Everything about one option. Its flag, variables, JSON Schema, line in `config print`, TypeScript property and rows in
 * docs/ follow from it.
 */
export interface OptionRow<T = unknown> {
  readonly shape: Shape<T>;
  /** The only constructor that accepts it. */
  readonly only?: 'instrumentation' | 'producer';
  /** Type in TypeScript, if the JSON Schema does not imply it. */
  readonly type?: string;
  /** False if no configuration file can hold the option. */
  readonly inFile?: false;
  /** `name`: in camel case. `takes`: placeholder of the value. */
  readonly flag?: { readonly name: string; readonly takes: string; readonly repeats?: true };
  /** Heading above the flag in --help and in the man page. */
  readonly group?: (typeof GROUPS)[number];
  /** Usual words of the flag, for completion. Default: the allowed ones. */
  readonly words?: readonly string[];
  /** Variables of the option. The first one with a value counts. */
  readonly variables?: readonly Variable[];
  readonly default?: T | (() => T);
  /** The default in words, if the option has no default value or a long one. */
  readonly defaultText?: string;
  /** A single value counts as a list of it. */
  readonly isList?: true;
  /** Returns whether a text of the value is a path. In a file it is relative to the file's folder. */
  readonly isPath?: (text: string) => boolean;
  /** Part of the library that gets the value as it is. */
  readonly passedTo?: Part;
  /** Without one of these builders the option has no effect. */
  readonly usedBy?: readonly BuilderName[];
  /** Without it, the setting of serve has no effect. */
  readonly needs?: Need;
  /** For --help and everywhere else: a phrase without a period. Markdown, as `details`. */
  readonly description: string;
  /** Further sentences, which --help omits. */
  readonly details?: string;
}

export type OptionRows = Readonly<Record<string, OptionRow>>;

type ValueOf<R> = R extends { readonly shape: Shape<infer T> } ? T : never;
type FlagOf<R> = R extends { readonly flag: { readonly name: infer Name extends string } } ? Name : never;
type Flagged<Rows> = { -readonly [K in keyof Rows as FlagOf<Rows[K]>]: ValueOf<Rows[K]> };
type Defaulted<Rows> = {
  [K in keyof Rows as Rows[K] extends { readonly default: unknown } ? FlagOf<Rows[K]> : never]: ValueOf<Rows[K]>;
};

/** Values by the names of the flags; optional if the row has no default. */
export type FlagValues<Rows> = Partial<Flagged<Rows>> & Defaulted<Rows>;

/** The value of an option and its origin: `flag`, `option`, the name of a variable, `file` or `default`. */
export interface Resolved {
  readonly value: unknown;
  readonly origin: string;
}

/** Resolved options by the keys of the rows. Options without a value are absent. */
export type Resolution = ReadonlyMap<string, Resolved>;

export function defaultOf({ default: usual }: OptionRow): unknown {
  return typeof usual === 'function' ? (usual as () => unknown)() : usual;
}

export function isDefault(row: OptionRow, value: unknown): boolean {
  return isDeepStrictEqual(value, defaultOf(row));
}

/** Returns the default in words; undefined if the option has none. */
export function defaultText({ default: usual, defaultText, shape: { unit } }: OptionRow): string | undefined {
  if (defaultText !== undefined || usual === undefined) return defaultText;
  return [usual as string | number]
    .flat()
    .concat(unit ?? [])
    .join(' ');
}

/** Returns the flag with its dashes: `--drain-interval`. */
export function flagName({ flag }: OptionRow): string {
  return `--${flag!.name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function variablesOf(rows: OptionRows): string[] {
  return Object.values(rows).flatMap(({ variables = [] }) => variables.map(({ name }) => name));
}

export function sentences({ description, details }: OptionRow): string {
  const first = `${description[0]!.toUpperCase()}${description.slice(1)}.`;
  return details === undefined ? first : `${first} ${details}`;
}

/** Adds description and default to the JSON Schema. */
export function described(row: OptionRow, shape: Shape = row.shape): Shape {
  const { schema } = shape;
  const hasDefault = row.default !== undefined && typeof row.default !== 'function';
  return {
    ...shape,
    schema: schema && { description: sentences(row), ...schema, ...(hasDefault && { default: row.default }) },
  };
}

/** Returns the shapes of the options that a file may hold. */
export function fileFields(rows: OptionRows, shapeOf: (row: OptionRow) => Shape): Record<string, Shape> {
  const held = Object.entries(rows).filter(([, { inFile = true }]) => inFile);
  return Object.fromEntries(held.map(([key, row]) => [key, shapeOf(row)]));
}

/**
 * Converts a value of the section `serve`, which may be the text that the flag takes, or an array if the shape has one.
 * @throws Refusal
 */
export function sectionValue(shape: Shape, given: unknown): unknown {
  const { parse } = shape;
  if (parse === undefined) return given;
  if (typeof given === 'string') return parse(given);
  if (!Array.isArray(given) || shape.problems(given).length > 0) return given;
  const texts: readonly string[] = given.length > 0 ? given : [''];
  return texts.reduce((before: unknown, text) => parse(text, before), undefined);
}

/** Returns a value of a file with absolute paths. `folder`: that of the file. */
export function withAbsolutePaths({ isPath }: OptionRow, given: unknown, folder: string): unknown {
  const absolute = (one: unknown): unknown =>
    isPath === undefined || typeof one !== 'string' || !isPath(one) || path.isAbsolute(one)
      ? one
      : path.resolve(folder, one);
  return Array.isArray(given) ? given.map(absolute) : absolute(given);
}

export function sectionShape(row: OptionRow): Shape {
  const { shape } = row;
  const problems = (given: unknown, path: Path = []): readonly Problem[] => {
    try {
      return shape.problems(sectionValue(shape, given), path);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const wrongValue = shape.problems(given, path);
      return wrongValue.length > 0 ? wrongValue : [{ path, text: wrong(given, error.message) }];
    }
  };
  return described(row, { ...shape, problems });
}
