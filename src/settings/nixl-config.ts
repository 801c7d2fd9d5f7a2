/**
 * NIXL's own configuration file: since 1.2.0 NIXL takes a setting from there if its variable is not set. TOML, with the
 * variable's name as key.
 */
import { binaryText } from '../ground/figures/figure.js';
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import type { parse } from 'smol-toml';
import { NixlTelemetryError } from '../ground/errors.js';
import { packageFolder } from '../ground/package.js';
import { requireFrom } from '../ground/require-from.js';
import type { Environment } from './row.js';

const VARIABLE = 'NIXL_CONFIG_FILE';
const MOST_BYTES = 64 * 1024;

/** Values by the names of variables, as texts. */
export type NixlConfig = Readonly<Record<string, string>>;

/** Returns the places where a process with these variables has NIXL look for its file, the first one first. */
export function nixlConfigPlaces({ [VARIABLE]: named, HOME }: Environment): { paths: string[]; isNamed: boolean } {
  if (named !== undefined) return { paths: [named], isNamed: true };
  return { paths: [...(HOME ? [path.join(HOME, '.nixl.cfg')] : []), '/etc/nixl.cfg'], isNamed: false };
}

/** Files that gave values to an environment. */
const GIVERS = new WeakMap<Environment, { readonly file: string; readonly config: NixlConfig }>();

/**
 * Returns the environment with the values of NIXL's file for variables that are not set.
 * @throws NixlTelemetryError CONFIG_INVALID naming the file
 */
export function withNixlConfig(environment: Environment): Environment {
  const { paths, isNamed } = nixlConfigPlaces(environment);
  const file = isNamed ? paths[0]! : paths.find((one) => existsSync(one));
  if (!file) return environment;
  let config: NixlConfig;
  try {
    config = readNixlConfig(openSync(file, constants.O_RDONLY | constants.O_NONBLOCK));
  } catch (error) {
    const by = isNamed ? `, which ${VARIABLE} names,` : '';
    const message = `${file}${by} cannot be used as NIXL's configuration: ${problemOf(error)}`;
    throw new NixlTelemetryError('CONFIG_INVALID', message, { path: file, cause: error });
  }
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
  const merged = { ...config, ...set };
  GIVERS.set(merged, { file, config });
  return merged;
}

/** Returns the origin of a variable's value: its name, and the file if that has it. */
export function variableOrigin(name: string, environment: Environment): string {
  const giver = GIVERS.get(environment);
  return giver !== undefined && giver.config[name] === environment[name] ? `${name} in ${giver.file}` : name;
}

/** Mistake in a file; no text of the file is in its message. */
export class NixlConfigMistake extends Error {}

/**
 * Reads the settings of telemetry from a descriptor, and closes it.
 * @throws NixlConfigMistake, or an error of the system
 */
export function readNixlConfig(fd: number): NixlConfig {
  let text;
  try {
    if (!fstatSync(fd).isFile()) throw new NixlConfigMistake('it is no regular file');
    const bytes = Buffer.alloc(MOST_BYTES + 1);
    const length = readSync(fd, bytes, 0, bytes.length, 0);
    if (length > MOST_BYTES) throw new NixlConfigMistake(`it has more than ${binaryText(MOST_BYTES)}`);
    text = bytes.toString('utf8', 0, length);
  } finally {
    closeSync(fd);
  }
  const found = Object.entries(parsed(text)).filter(([name]) => name.startsWith('NIXL_TELEMETRY_'));
  return Object.fromEntries(found.map(([name, value]) => [name, textOf(name, value)]));
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  const folder = packageFolder('package smol-toml', 'CONFIG_INVALID', `set NIXL's variables instead of its file`);
  const { parse: parseToml } = requireFrom(folder)('smol-toml') as { parse: typeof parse };
  try {
    return parseToml(text);
  } catch (error) {
    const { line, column } = error as { line?: number; column?: number };
    throw new NixlConfigMistake(line === undefined ? 'it is no TOML' : `line ${line}, column ${column} is no TOML`);
  }
}

/** NIXL refuses other types: a string for a boolean, or for an integer. */
function textOf(name: string, value: unknown): string {
  if (name === 'NIXL_TELEMETRY_ENABLE') {
    if (typeof value === 'boolean') return value ? 'y' : 'n';
    throw new NixlConfigMistake(`${name} must be true or false, without quotes`);
  }
  if (typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isInteger(value)) return String(value);
  throw new NixlConfigMistake(`${name} must be a string or an integer`);
}

/** Returns the reason in words, without a text of the file. */
export function problemOf(error: unknown): string {
  if (error instanceof NixlConfigMistake || error instanceof NixlTelemetryError) return error.message;
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
