/**
 * Resolves the value of each option, with its origin. The first of these origins with a value counts: flag or option of the
 * code, variables in the order of the row, configuration file, default. An empty variable counts as not set.
 */
import { diag } from '@opentelemetry/api';
import { readSettings, type WrittenSettings } from './file.js';
import { type Given, givenValue, resolvedTo } from './given.js';
import { OPTION_ROWS } from './option-rows.js';
import { defaultOf, type OptionRows, type Resolution, type Resolved, sectionValue, withAbsolutePaths } from './row.js';
import { SERVE_ROWS } from './serve-rows.js';
import type { Shape } from './shape.js';

export interface Layers extends Given {
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
  keepFirstAddresses(resolved);
  // A list of builders replaces the default preset. A preset that is set beside it is refused: refuseTwoChoices() in settings.ts.
  if (resolved.has('builders') && resolved.get('series')?.origin === 'default') resolved.delete('series');
  if (areLabelsIncidental(resolved)) {
    resolved.set('nixlLabels', resolveRow(rows, 'nixlLabels', { ...layers, environment: {} })!);
  }
  return resolved;
}

export function resolveRow(rows: OptionRows, key: string, layers: Layers): Resolved | undefined {
  const row = rows[key]!;
  const given = givenValue(row, key, layers, (text) => diag.warn(text));
  if (given !== undefined) return given === 'by the SDK' ? undefined : given;
  const { file } = layers;
  const isOfServe = row === (SERVE_ROWS as OptionRows)[key];
  const written = isOfServe ? sectionValue(row.shape, file?.serve[key]) : file?.written[key];
  if (written !== undefined) return resolvedTo(row, withAbsolutePaths(row, written, file!.folder), 'file');
  return row.default === undefined ? undefined : resolvedTo(row, defaultOf(row), 'default');
}

/** Reads the configuration file that an option, a flag or a variable names. `serve`, `onText`: as in readSettings(). */
export function namedFile(layers: Layers, serve?: Shape, onText?: (text: string) => void): WrittenSettings | undefined {
  const named = resolveRow(OPTION_ROWS, 'configFile', layers);
  return named && readSettings(named.value as string, serve, onText);
}

export function isVariable({ origin }: Resolved): boolean {
  return !['flag', 'option', 'file', 'default'].includes(origin);
}

/** Drops directories or globs of a later layer: the first layer that names places names all of them. */
function keepFirstPlaces(resolved: Map<string, Resolved>): void {
  const [directories, globs] = [resolved.get('directories'), resolved.get('globs')];
  if (directories === undefined || globs === undefined || rank(directories) === rank(globs)) return;
  resolved.delete(rank(directories) < rank(globs) ? 'globs' : 'directories');
}

/** Drops the list of addresses if an earlier layer has the host or the port. */
function keepFirstAddresses(resolved: Map<string, Resolved>): void {
  const listen = resolved.get('listen');
  const single = ['host', 'port'].flatMap((key) => resolved.get(key) ?? []);
  if (listen !== undefined && single.some((one) => rank(one) < rank(listen))) resolved.delete('listen');
}

/** Place of the origin in the order in which origins count. */
function rank(one: Resolved): number {
  const { origin } = one;
  return origin === 'default' ? 3 : origin === 'file' ? 2 : isVariable(one) ? 1 : 0;
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
