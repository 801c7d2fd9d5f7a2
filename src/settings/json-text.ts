/**
 * JSON as in RFC 8259, with positions: no trailing commas, comments or duplicate keys. JSON.parse() reports no position for
 * many mistakes, and takes the last of two equal keys.
 */
import { shown } from '../ground/arguments.js';
import type { Located, Mistake } from './located.js';
import type { Path } from './shape.js';

/** Deeper than any configuration, and shallow enough for the stack. */
const MAX_DEPTH = 100;
const SPACE = /[ \t\r\n]*/y;
// eslint-disable-next-line no-control-regex -- a string must not contain these characters
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const NO_COMMA = 'a comma before a closing bracket is not allowed';

class SyntaxMistake extends Error {}

export function readJson(text: string): Located {
  const mistakes: Mistake[] = [];
  /** Offsets of keys and list elements, by their paths. */
  const offsets = new Map<string, number>();
  let at = 0;

  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  }

  /** Skips white space and returns the character after it; undefined at the end. */
  function next(): string | undefined {
    match(SPACE);
    return text[at];
  }

  function refuse(message: string): never {
    const rest = text.slice(at, at + 2);
    if (rest === '') throw new SyntaxMistake(`not JSON: the file ends here; ${message}`);
    const isComment = rest === '//' || rest === '/*' || rest.startsWith('#');
    const hint = isComment ? '; comments are allowed in YAML only, in a file that is not named .json' : '';
    throw new SyntaxMistake(`not JSON: ${message}${hint}`);
  }

  /** Reads the items between two brackets, with commas between them. */
  function readItems(end: string, readItem: () => void): void {
    at++;
    let isFirst = true;
    while (next() !== end || !isFirst) {
      readItem();
      isFirst = false;
      if (next() === end) break;
      if (text[at] !== ',') refuse(`expected a comma or ${end}`);
      at++;
    }
    at++;
  }

  function readObject(path: Path): unknown {
    const entries = new Map<string, unknown>();
    readItems('}', () => {
      const isEnd = next() === '}';
      const offset = at;
      const key = match(STRING) ?? refuse(isEnd ? `expected a key; ${NO_COMMA}` : 'expected a key, in double quotes');
      const name = JSON.parse(key) as string;
      const inside = [...path, name];
      if (entries.has(name)) mistakes.push({ offset, message: `the object has the key ${shown(name)} twice` });
      offsets.set(keyOf(inside), offset);
      if (next() !== ':') refuse('expected a colon');
      at++;
      entries.set(name, readValue(inside));
    });
    return Object.fromEntries(entries);
  }

  function readArray(path: Path): unknown[] {
    const values: unknown[] = [];
    readItems(']', () => {
      const inside = [...path, values.length];
      next();
      offsets.set(keyOf(inside), at);
      values.push(readValue(inside));
    });
    return values;
  }

  function readValue(path: Path): unknown {
    if (path.length > MAX_DEPTH) refuse(`nested deeper than ${MAX_DEPTH} levels`);
    const first = next();
    if (first === '{') return readObject(path);
    if (first === '[') return readArray(path);
    const scalar = match(STRING) ?? match(SCALAR);
    if (scalar !== undefined) return JSON.parse(scalar);
    const values = 'an object, an array, a text in double quotes, a number, true, false or null';
    return refuse(`expected a value${first === ']' || first === '}' ? `; ${NO_COMMA}` : `: ${values}`}`);
  }

  let value: unknown;
  try {
    value = readValue([]);
    if (next() !== undefined) refuse('expected the end of the file');
  } catch (error) {
    if (!(error instanceof SyntaxMistake)) throw error;
    mistakes.push({ offset: at, message: error.message });
  }
  return {
    mistakes,
    value: () => value,
    offsetOf(path) {
      const known = path.map((_, i) => offsets.get(keyOf(path.slice(0, path.length - i))));
      return known.find((offset) => offset !== undefined) ?? 0;
    },
  };
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}
