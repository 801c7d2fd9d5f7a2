/**
 * What the settings of `serve` are: a flag goes before OpenTelemetry's variables, those before NIXL's, and those before
 * the file and the default. An empty variable is one that is not set.
 */
import { resolve as absolute } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { shown } from '../../arguments.js';
import { readSettings, type WrittenSettings } from '../../settings/config-file.js';
import type { Environment } from '../../settings/environment.js';
import { object, type Shape, word } from '../../settings/shape.js';
import { type ServeSettings, type SettingRow, SETTINGS } from './setting-rows.js';

export function addSettings(command: Command): Command {
  for (const { flag, description, parse, default: value, environment = [] } of SETTINGS) {
    const notes = [
      ...(environment.length === 0 ? [] : [`env: ${environment.map(({ variable }) => variable).join(', ')}`]),
      ...(value === undefined ? [] : [`default: ${value.toString()}`]),
    ];
    const text = notes.length === 0 ? description : `${description} (${notes.join('; ')})`;
    // The default is only told: commander must not say that a flag was given when it was not.
    command.addOption(new Option(flag, text).argParser(parse as () => never));
  }
  return command;
}

export interface Resolved {
  readonly value: unknown;
  /** `flag`, a variable, `file` or `default`. */
  readonly origin: string;
}

export type ResolvedSettings = ReadonlyMap<keyof ServeSettings, Resolved>;

/** @throws InvalidArgumentError naming the variable, its value and what is allowed; NixlTelemetryError of the file. */
export function settingsOf(flags: Partial<ServeSettings>, environment: Environment): ServeSettings {
  return valuesOf(resolveSettings(flags, environment, readConfig(flags, environment)));
}

export function valuesOf(resolved: ResolvedSettings): ServeSettings {
  return Object.fromEntries([...resolved].map(([key, { value }]) => [key, value])) as unknown as ServeSettings;
}

/**
 * The directories that a flag or a variable names: they are all that is read. Those of the file are left to it, which may
 * name globs besides.
 */
export function directoriesBeforeFile(resolved: ResolvedSettings): string[] | undefined {
  const dir = resolved.get('dir');
  if (dir === undefined || dir.origin === 'file') return undefined;
  const directories = dir.value as string[];
  // A flag is relative to the working directory. A variable may be set elsewhere: a relative path in it gets a warning.
  return dir.origin === 'flag' ? directories.map((one) => absolute(one)) : directories;
}

/** Reads the configuration file; undefined when none is named. `onText`: called before anything in it is refused. */
export function readConfig(
  flags: Partial<ServeSettings>,
  environment: Environment,
  onText?: (text: string) => void,
): WrittenSettings | undefined {
  const config = resolve(CONFIG_ROW, flags, environment, undefined);
  return config && readSettings(config.value as string, SERVE_SECTION, onText);
}

/** Every setting that has a value, and where it comes from. */
export function resolveSettings(
  flags: Partial<ServeSettings>,
  environment: Environment,
  file: WrittenSettings | undefined,
): ResolvedSettings {
  const resolved = new Map<keyof ServeSettings, Resolved>();
  for (const row of SETTINGS) {
    const one = resolve(row, flags, environment, file);
    if (one !== undefined) resolved.set(row.key, one);
  }
  if (areLabelsIncidental(resolved, file)) resolved.set('nixlLabels', resolve(LABELS_ROW, flags, {}, file)!);
  return resolved;
}

/**
 * Returns whether only NIXL's variable for the exporter asks for the labels, and no series can have them: then they are
 * neither missed nor in the way of an attribute.
 */
function areLabelsIncidental(resolved: ResolvedSettings, file: WrittenSettings | undefined): boolean {
  const builders = file?.written['builders'] as readonly string[] | undefined;
  const hasSeries = resolved.get('naming')!.value === 'nixl' && builders?.includes('nixl') !== false;
  return !hasSeries && resolved.get('nixlLabels')!.origin === 'NIXL_TELEMETRY_EXPORTER';
}

const CONFIG_ROW = rowOf('config');
const LABELS_ROW = rowOf('nixlLabels');

export function rowOf(wanted: keyof ServeSettings): SettingRow {
  return SETTINGS.find(({ key }) => key === wanted)!;
}

function resolve(
  row: SettingRow,
  flags: Partial<ServeSettings>,
  environment: Environment,
  file: WrittenSettings | undefined,
): Resolved | undefined {
  const { [row.key]: flag } = flags;
  if (flag !== undefined) return { value: flag, origin: 'flag' };
  const found = fromEnvironment(row, environment);
  if (found !== undefined) return found;
  if (row.readElsewhere?.some((variable) => environment[variable])) return undefined;
  const written = file && fromFile(row, file);
  if (written !== undefined) return { value: written, origin: 'file' };
  return row.default === undefined ? undefined : { value: row.default, origin: 'default' };
}

function fromEnvironment(row: SettingRow, environment: Environment): Resolved | undefined {
  for (const { variable, parse = row.parse } of row.environment ?? []) {
    const text = environment[variable];
    if (text === undefined || text === '') continue;
    try {
      const value = (parse as (text: string, environment: Environment) => unknown)(
        text,
        // The flag's parser takes what it had before in this place.
        parse === row.parse ? (undefined as never) : environment,
      );
      if (value !== undefined) return { value, origin: variable };
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new InvalidArgumentError(`${variable} is '${text}'. ${error.message}`);
    }
  }
  return undefined;
}

/** Whoever names globs in a file means no directory besides. */
function fromFile({ option, key, parse }: SettingRow, { written, serve }: WrittenSettings): unknown {
  if (option !== undefined) {
    const { [option]: value } = written;
    return option === 'directories' && typeof value === 'string' ? [value] : value;
  }
  return serve[key] === undefined ? undefined : parse(textIn(serve[key]));
}

function textIn(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value);
}

/** The section `serve` of a configuration file: what a flag takes, as text or as what it stands for. */
export const SERVE_SECTION: Shape = object(
  Object.fromEntries(
    SETTINGS.filter(({ key, option }) => key !== 'config' && option === undefined).map((row) => [
      row.key,
      shapeOf(row),
    ]),
  ),
);

function shapeOf({ parse, words, default: usual }: SettingRow): Shape {
  if (words !== undefined) return word(words);
  const type = typeof usual === 'number' ? 'integer' : 'string';
  const one = { type };
  const schema = Array.isArray(usual) ? { anyOf: [one, { type: 'array', items: one }] } : one;
  return {
    allowed: type,
    schema,
    problems(given, path = []) {
      const types = type === 'integer' ? ['number', 'string'] : ['string'];
      const isRight = types.includes(typeof given) || (Array.isArray(usual) && isListOfTexts(given));
      if (!isRight) return [{ path, text: `is ${shown(given)}; allowed: ${allowedTypes(usual)}` }];
      try {
        parse(textIn(given));
        return [];
      } catch (error) {
        if (!(error instanceof InvalidArgumentError)) throw error;
        return [{ path, text: `is ${shown(given)}; ${error.message.replace('Allowed', 'allowed')}` }];
      }
    },
  };
}

function isListOfTexts(given: unknown): boolean {
  return Array.isArray(given) && given.length > 0 && given.every((one) => typeof one === 'string');
}

function allowedTypes(usual: SettingRow['default']): string {
  if (typeof usual === 'number') return 'a number';
  return Array.isArray(usual) ? 'a text or a non-empty array of texts' : 'a text';
}
