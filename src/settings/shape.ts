/**
 * What a value of the configuration may be: a check that names all that is wrong, and the same as JSON Schema for
 * editors, side by side so that they agree.
 */
import { isObject, isText, shown } from '../arguments.js';

export type Path = readonly (string | number)[];
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Problem {
  /** From the value that was checked to the part that is wrong. */
  readonly path: Path;
  /** To be read after the name of the part: `is 5; allowed: true or false`. */
  readonly text: string;
}

export interface Shape {
  /** In words. */
  readonly allowed: string;
  /** Undefined for what no file can hold, such as a function. */
  readonly schema: JsonSchema | undefined;
  problems(value: unknown, path?: Path): readonly Problem[];
}

/** A value that is right or wrong as a whole. */
export function value(allowed: string, schema: JsonSchema | undefined, check: (value: unknown) => boolean): Shape {
  return {
    allowed,
    schema,
    problems: (value, path = []) => (check(value) ? [] : [{ path, text: wrong(value, allowed) }]),
  };
}

export const boolean = value('true or false', { type: 'boolean' }, (given) => typeof given === 'boolean');

export const text = value('a non-empty string', { type: 'string', minLength: 1 }, isText);

export const variableName = value(
  'the name of an environment variable, without =',
  { type: 'string', pattern: '^[^=]+$' },
  (given) => isText(given) && !given.includes('='),
);

export const anyObject = value('an object', { type: 'object' }, isObject);

/** One, or an array of them. */
export function oneOrMore(item: Shape, allowed: string): Shape {
  const fits = (given: unknown): boolean => item.problems(given).length === 0;
  return value(
    allowed,
    { anyOf: [item.schema, { type: 'array', minItems: 1, items: item.schema }] },
    (given) => fits(given) || (Array.isArray(given) && given.length > 0 && given.every(fits)),
  );
}

export const texts = oneOrMore(text, 'a non-empty string or a non-empty array of them');

export function number(allowed: string, minimum: number, maximum: number, { integer = false } = {}): Shape {
  const schema = {
    type: integer ? 'integer' : 'number',
    minimum,
    ...(maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
  const fits = (given: unknown): boolean =>
    typeof given === 'number' && given >= minimum && given <= maximum && (!integer || Number.isInteger(given));
  return value(allowed, schema, fits);
}

export function word(words: readonly string[]): Shape {
  const quoted = words.map((one) => `"${one}"`);
  const allowed = quoted.length === 2 ? quoted.join(' or ') : `one of ${quoted.join(', ')}`;
  return value(allowed, { enum: words }, (given) => words.includes(given as string));
}

/** An array of one shape each. */
export function list(item: Shape, { minItems = 0 } = {}): Shape {
  const allowed = `${minItems > 0 ? 'a non-empty array' : 'an array'}, each of it ${item.allowed}`;
  return {
    allowed,
    schema: item.schema && { type: 'array', minItems, items: item.schema },
    problems(given, path = []) {
      if (!Array.isArray(given) || given.length < minItems) return [{ path, text: wrong(given, allowed) }];
      return given.flatMap((one: unknown, i) => item.problems(one, [...path, i]));
    },
  };
}

export interface Fields {
  readonly [name: string]: Shape;
}

/** Keys that are undefined count as not given. */
export function object(fields: Fields, required: readonly string[] = []): Shape {
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

/** One of several objects, told apart by the key that only one of them has; or one of the words. */
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

/** Result of a further check: a problem of the whole value, or problems of parts, by their paths within it. */
export type Found = string | readonly Problem[] | undefined;

/** A further check that no JSON Schema can express, of what is right by its shape. */
export function also(shape: Shape, check: (value: never) => Found): Shape {
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

/** `attributes[0].source` */
export function pathText(path: Path): string {
  return path.map((part, i) => (typeof part === 'number' ? `[${part}]` : i === 0 ? part : `.${part}`)).join('');
}

function wrong(given: unknown, allowed: string): string {
  return `is ${shown(given)}; allowed: ${allowed}`;
}
