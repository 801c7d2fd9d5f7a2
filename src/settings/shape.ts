/**
 * Shapes of option values. A shape holds the check that names every mistake, the JSON Schema for editors, and the parser of
 * the text of a flag or variable, so that the three agree.
 */
import { isIPv6 } from 'node:net';
import { isObject, isText, shown } from '../ground/arguments.js';

export type Path = readonly (string | number)[];
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Problem {
  /** From the checked value to the wrong part. */
  readonly path: Path;
  /** Follows the name of the part in a message: `is 5; allowed: true or false`. */
  readonly text: string;
}

/** Thrown for a text that is not allowed. The message lists what is allowed. */
export class Refusal extends Error {}

export interface Shape<T = unknown> {
  /** Allowed values in words. */
  readonly allowed: string;
  /** Undefined for values that no file can hold, such as functions. */
  readonly schema: JsonSchema | undefined;
  readonly unit?: 'ms';
  problems(value: unknown, path?: Path): readonly Problem[];
  /**
   * Parses the text of a flag or variable. `before`: the value of the same flag given earlier, for flags that add up. A shape
   * without text form has no parser.
   * @throws Refusal
   */
  readonly parse?: (text: string, before?: unknown) => T;
}

/** A value that is right or wrong as a whole. */
export function value<T>(
  allowed: string,
  schema: JsonSchema | undefined,
  check: (value: unknown) => boolean,
  parse?: (text: string) => T,
): Shape<T> {
  return {
    allowed,
    schema,
    problems: (value, path = []) => (check(value) ? [] : [{ path, text: wrong(value, allowed) }]),
    ...(parse && { parse }),
  };
}

export const boolean = value<boolean>('true or false', { type: 'boolean' }, (given) => typeof given === 'boolean');

/** A text that is right or wrong as a whole. */
export function textShape(allowed: string, schema: JsonSchema, check: (given: string) => boolean): Shape<string> {
  return value(
    allowed,
    { type: 'string', ...schema },
    (given) => typeof given === 'string' && check(given),
    (given) => (check(given) ? given : refuse(allowed)),
  );
}

export function notEmpty(allowed: string): Shape<string> {
  return textShape(allowed, { minLength: 1 }, isText);
}

export const text = notEmpty('a non-empty string');
export const filePath = notEmpty('a path');

export function pattern(allowed: string, expression: RegExp): Shape<string> {
  const schema = { minLength: 1, pattern: expression.source };
  return textShape(allowed, schema, (given) => isText(given) && expression.test(given));
}

export const variableName = textShape(
  'the name of an environment variable, without =',
  { pattern: '^[^=]+$' },
  (given) => isText(given) && !given.includes('='),
);

export const httpUrl = textShape(
  'a URL that begins with http:// or https://',
  {},
  (given) => URL.canParse(given) && /^https?:\/\/[^/?#]/i.test(given),
);

/** Accepts IPv6 in brackets, as in a URL. Parsing removes the brackets. */
export const hostName: Shape<string> = {
  ...textShape(
    'an address or a host name, without a port; IPv6 with or without brackets',
    {},
    (given) => withoutBrackets(given) !== undefined,
  ),
  parse: (given) => withoutBrackets(given) ?? refuse(hostName.allowed),
};

function withoutBrackets(host: string): string | undefined {
  const [, address] = /^\[(.*)\]$/.exec(host) ?? [];
  if (address !== undefined) return isIPv6(address) ? address : undefined;
  return isIPv6(host) || /^[^\s\0:/[\]@?#]+$/.test(host) ? host : undefined;
}

export const anyObject = value('an object', { type: 'object' }, isObject);

/** A single item, or a non-empty array of items. Flags and variables give an array. */
export function oneOrMore<T>(item: Shape<T>, allowed: string): Shape<T[]> {
  const fits = (given: unknown): boolean => item.problems(given).length === 0;
  return {
    ...value(
      allowed,
      { anyOf: [item.schema, { type: 'array', minItems: 1, items: item.schema }] },
      (given) => fits(given) || (Array.isArray(given) && given.length > 0 && given.every(fits)),
    ),
    ...parserOfList(item),
  };
}

export const texts = oneOrMore(text, 'a non-empty string or a non-empty array of them');

export function number(allowed: string, minimum: number, maximum: number): Shape<number> {
  const fits = (given: unknown): boolean => typeof given === 'number' && given >= minimum && given <= maximum;
  return value(allowed, { type: 'number', minimum, maximum }, fits);
}

export function wholeNumber(
  minimum: number,
  maximum = Number.MAX_SAFE_INTEGER,
  what = 'a whole number',
): Shape<number> {
  const isOpen = maximum === Number.MAX_SAFE_INTEGER;
  const allowed = `${what}, ${isOpen ? `${minimum} or more` : `from ${minimum} to ${maximum}`}`;
  const fits = (given: unknown): boolean =>
    Number.isInteger(given) && (given as number) >= minimum && (given as number) <= maximum;
  return value(allowed, { type: 'integer', minimum, ...(isOpen ? {} : { maximum }) }, fits, (text) => {
    // Number() would also take '', ' 7', '0x10' and '1e3'.
    const parsed = /^\d+$/.test(text) ? Number(text) : NaN;
    return fits(parsed) ? parsed : refuse(allowed);
  });
}

export function milliseconds(minimum: number, maximum?: number): Shape<number> {
  return { ...wholeNumber(minimum, maximum, 'a whole number of milliseconds'), unit: 'ms' };
}

/** One of some words. `lowerCase`: flags and variables accept them in any case. */
export function word<const W extends string>(words: readonly W[], { lowerCase = false } = {}): Shape<W> {
  const quoted = words.map((one) => `"${one}"`);
  const allowed = quoted.length === 2 ? quoted.join(' or ') : `one of ${quoted.join(', ')}`;
  return value(
    allowed,
    { enum: words },
    (given) => words.includes(given as W),
    (given) => words.find((one) => one === (lowerCase ? given.toLowerCase() : given)) ?? refuse(words.join(', ')),
  );
}

export function list<T>(item: Shape<T>, { minItems = 0 } = {}): Shape<T[]> {
  const allowed = `${minItems > 0 ? 'a non-empty array' : 'an array'}, each of it ${item.allowed}`;
  return {
    allowed,
    schema: item.schema && { type: 'array', minItems, items: item.schema },
    problems(given, path = []) {
      if (!Array.isArray(given) || given.length < minItems) return [{ path, text: wrong(given, allowed) }];
      return given.flatMap((one: unknown, i) => item.problems(one, [...path, i]));
    },
    ...parserOfList(item),
  };
}

function parserOfList<T>({ parse }: Shape<T>): Pick<Shape<T[]>, 'parse'> {
  return parse === undefined ? {} : { parse: (text, before = []) => [...(before as T[]), parse(text)] };
}

/** Keys that are undefined count as not given. */
export function object(fields: Readonly<Record<string, Shape>>, required: readonly string[] = []): Shape {
  const names = Object.keys(fields);
  const allowed = `an object with ${names.join(', ')}`;
  return {
    allowed,
    schema: {
      type: 'object',
      additionalProperties: false,
      ...(required.length === 0 ? {} : { required }),
      properties: Object.fromEntries(
        Object.entries(fields).flatMap(([name, { schema }]) => (schema === undefined ? [] : [[name, schema]])),
      ),
    },
    problems(given, path = []) {
      if (!isObject(given)) return [{ path, text: wrong(given, allowed) }];
      const missing = required.filter((name) => given[name] === undefined);
      const lacking = missing.map((name) => ({
        path,
        text: `has no ${JSON.stringify(name)}; it needs ${required.join(', ')}`,
      }));
      const wrongFields = Object.entries(given).flatMap(([name, one]): readonly Problem[] => {
        const at = [...path, name];
        if (!Object.hasOwn(fields, name)) return [{ path: at, text: `is unknown; there are ${names.join(', ')}` }];
        return one === undefined ? [] : fields[name]!.problems(one, at);
      });
      return [...lacking, ...wrongFields];
    },
  };
}

/** Applies the second shape to values that `isSecond` recognises, and the first to all others. */
export function either<A, B>(
  first: Shape<A>,
  second: Shape<B>,
  allowedSecond: string,
  isSecond: (given: unknown) => boolean,
): Shape<A | B> {
  return {
    allowed: `${first.allowed}; ${allowedSecond}`,
    schema: { anyOf: [first.schema, second.schema] },
    problems: (given, path) => (isSecond(given) ? second : first).problems(given, path),
  };
}

/** A word, or one of several objects. Each object has a key that no other has. */
export function wordOrObject(words: Shape, byKey: Readonly<Record<string, Shape>>): Shape {
  const keys = Object.keys(byKey);
  const allowed = `${words.allowed}, or an object with ${keys.join(' or ')}`;
  return {
    allowed,
    schema: { anyOf: [words.schema, ...Object.values(byKey).map(({ schema }) => schema)] },
    problems(given, path = []) {
      const neither = [{ path, text: wrong(given, allowed) }];
      if (!isObject(given)) return words.problems(given, path).length === 0 ? [] : neither;
      const key = keys.find((one) => Object.hasOwn(given, one));
      return key === undefined ? neither : byKey[key]!.problems(given, path);
    },
  };
}

/**
 * Adds a check that no JSON Schema can express. It runs on values that have the shape. It returns a problem of the whole
 * value, or problems of its parts with their paths.
 */
export function also<T>(shape: Shape<T>, check: (value: never) => string | readonly Problem[] | undefined): Shape<T> {
  return {
    ...shape,
    problems(given, path = []) {
      const wrongShape = shape.problems(given, path);
      if (wrongShape.length > 0) return wrongShape;
      const found = check(given as never) ?? [];
      if (typeof found === 'string') return [{ path, text: found }];
      return found.map((problem) => ({ ...problem, path: [...path, ...problem.path] }));
    },
  };
}

/** Returns a path as text: `attributes[0].source`. */
export function pathText(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}

/** @throws Refusal */
export function refuse(allowed: string): never {
  throw new Refusal(allowed);
}

export function wrong(given: unknown, allowed: string): string {
  return `is ${shown(given)}; allowed: ${allowed}`;
}
