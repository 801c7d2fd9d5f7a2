/**
 * Resolves the value of each option, with its origin. The first of these origins with a value counts: flag or option of the
 * code, variables in the order of the row, configuration file, default. An empty variable counts as not set.
 */
import { invalid, shown } from '../arguments.js';
import { readSettings, type WrittenSettings } from './file.js';
import { OPTION_ROWS } from './option-rows.js';
import {
  defaultOf,
  type Environment,
  type OptionRow,
  type OptionRows,
  type Resolution,
  type Resolved,
  sectionValue,
  type Variable,
} from './row.js';
import { SERVE_ROWS } from './serve-rows.js';
import { Refusal, type Shape } from './shape.js';

export interface Layers {
  /** Flags or options of the code, by the keys of the rows. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** With `flag`, the variables that only `nixl-otel` reads count, too. */
  readonly givenBy: 'flag' | 'option';
  readonly environment: Environment;
  readonly file?: WrittenSettings | undefined;
}

/** @throws NixlTelemetryError CONFIG_INVALID naming the variable, its value and what is allowed. */
export function resolve(rows: OptionRows, layers: Layers): Resolution {
  const resolved = new Map<string, Resolved>();
  for (const key of Object.keys(rows)) {
    const one = resolveRow(rows, key, layers);
    if (one !== undefined) resolved.set(key, one);
  }
  keepFirstPlaces(resolved);
  // A list of builders replaces the default preset. A preset that is set beside it is refused: refuseTwoChoices() in settings.ts.
  if (resolved.has('builders') && resolved.get('series')?.origin === 'default') resolved.delete('series');
  if (areLabelsIncidental(resolved)) {
    resolved.set('nixlLabels', resolveRow(rows, 'nixlLabels', { ...layers, environment: {} })!);
  }
  return resolved;
}

export function resolveRow(rows: OptionRows, key: string, layers: Layers): Resolved | undefined {
  const row = rows[key]!;
  const { given = {}, givenBy, environment, file } = layers;
  const found = (value: unknown, origin: string): Resolved => ({
    value: row.isList && typeof value === 'string' ? [value] : value,
    origin,
  });
  if (given[key] !== undefined) return found(given[key], givenBy);
  for (const variable of row.variables ?? []) {
    const text = environment[variable.name];
    if (!text || (variable.serveOnly && givenBy !== 'flag')) continue;
    if (variable.readBySdk) return undefined;
    const value = valueOf(row, variable, text, environment);
    if (value !== undefined) return found(value, variable.name);
  }
  const isOfServe = row === (SERVE_ROWS as OptionRows)[key];
  const written = isOfServe ? sectionValue(row.shape, file?.serve[key]) : file?.written[key];
  if (written !== undefined) return found(written, 'file');
  return row.default === undefined ? undefined : found(defaultOf(row), 'default');
}

/** Reads the configuration file that an option, a flag or a variable names. `serve`, `onText`: as in readSettings(). */
export function namedFile(layers: Layers, serve?: Shape, onText?: (text: string) => void): WrittenSettings | undefined {
  const named = resolveRow(OPTION_ROWS, 'configFile', layers);
  return named && readSettings(named.value as string, serve, onText);
}

export function isVariable({ origin }: Resolved): boolean {
  return !['flag', 'option', 'file', 'default'].includes(origin);
}

function valueOf({ shape }: OptionRow, { name, parse }: Variable, text: string, environment: Environment): unknown {
  const value = parseVariable(name, text, () => (parse === undefined ? shape.parse!(text) : parse(text, environment)));
  const [problem] = value === undefined ? [] : shape.problems(value);
  if (problem !== undefined) throw invalid(`${name} ${problem.text}`);
  return value;
}

/** @throws NixlTelemetryError CONFIG_INVALID naming the variable, its value and what is allowed. */
export function parseVariable<T>(name: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw invalid(`${name} is ${shown(text)}; allowed: ${error.message}`);
  }
}

/** Drops directories or globs of a later layer: the first layer that names places names all of them. */
function keepFirstPlaces(resolved: Map<string, Resolved>): void {
  const rank = (one: Resolved): number => (one.origin === 'file' ? 2 : isVariable(one) ? 1 : 0);
  const [directories, globs] = [resolved.get('directories'), resolved.get('globs')];
  if (directories === undefined || globs === undefined || rank(directories) === rank(globs)) return;
  resolved.delete(rank(directories) < rank(globs) ? 'globs' : 'directories');
}

/**
 * Returns whether a variable selects labels that no series can have. The variable may be meant for agents, so these labels
 * must cause neither a warning nor a conflict with an attribute.
 */
function areLabelsIncidental(resolved: Resolution): boolean {
  const labels = resolved.get('nixlLabels');
  if (labels === undefined || !isVariable(labels)) return false;
  const builders = resolved.get('builders')?.value as readonly unknown[] | undefined; // undefined: those of a preset
  return resolved.get('naming')!.value !== 'nixl' || builders?.includes('nixl') === false;
}
