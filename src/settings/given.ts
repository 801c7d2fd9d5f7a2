/** Value of one option as options of the code, flags and variables give it: without the configuration file and the default. */
import { invalid, shown } from '../ground/arguments.js';
import { variableOrigin } from './nixl-config.js';
import type { Environment, OptionRow, Resolved, Variable } from './row.js';
import { Refusal } from './shape.js';

export interface Given {
  /** Flags or options of the code, by the keys of the rows. */
  readonly given?: Readonly<Record<string, unknown>>;
  /** With `flag`, the variables that only `nixl-otel` reads count, too. */
  readonly givenBy: 'flag' | 'option';
  readonly environment: Environment;
}

/**
 * Returns undefined if nothing gives a value, and `by the SDK` if the SDK reads a variable that is set. `warn`: gets a line about
 * each number that cannot be read.
 * @throws NixlTelemetryError CONFIG_INVALID naming the variable, its value and what is allowed.
 */
export function givenValue(
  row: OptionRow,
  key: string,
  layers: Given,
  warn: (text: string) => void = () => {},
): Resolved | 'by the SDK' | undefined {
  const { given = {}, givenBy, environment } = layers;
  if (given[key] !== undefined) return resolvedTo(row, given[key], givenBy);
  for (const variable of row.variables ?? []) {
    const text = environment[variable.name];
    if (!text || (variable.serveOnly && givenBy !== 'flag')) continue;
    if (variable.readBySdk) return 'by the SDK';
    if (isOtelNumber(row, variable) && !isReadable(row, text)) {
      warn(`${variable.name} is ${shown(text)}; allowed: ${row.shape.allowed}; it is ignored`);
      continue;
    }
    const value = valueOf(row, variable, text, environment);
    if (value !== undefined) return resolvedTo(row, value, variableOrigin(variable.name, environment));
  }
  return undefined;
}

/** OpenTelemetry's specification demands a warning for such a number, and that it counts as not set. */
function isOtelNumber({ shape }: OptionRow, { name }: Variable): boolean {
  return name.startsWith('OTEL_') && shape.schema?.['type'] === 'integer';
}

function isReadable({ shape }: OptionRow, text: string): boolean {
  try {
    return shape.problems(shape.parse!(text)).length === 0;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

export function resolvedTo({ isList }: OptionRow, value: unknown, origin: string): Resolved {
  return { value: isList && typeof value === 'string' ? [value] : value, origin };
}

function valueOf(
  { shape }: OptionRow,
  { name: variable, parse }: Variable,
  text: string,
  environment: Environment,
): unknown {
  const name = variableOrigin(variable, environment);
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
