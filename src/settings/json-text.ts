/**
 * JSON as RFC 8259 has it, with positions: no trailing commas, no comments, no key twice. JSON.parse() has no
 * position for many mistakes, and takes the last of two equal keys.
 */
import { shown } from '../arguments.js';
import type { Located, Mistake } from './located.js';
import type { Path } from './shape.js';

/** Deeper than any configuration, and shallow enough for the stack. */
const MAX_DEPTH = 100;
const SPACE = /[ \t\r\n]*/y;
// eslint-disable-next-line no-control-regex -- these are what a string may not hold
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

export function readJson(text: string): Located {
  const reader = new JsonReader(text);
  const value = reader.read();
  return {
    mistakes: reader.mistakes,
    value: () => value,
    offsetOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = reader.offsets.get(keyOf(path.slice(0, length)));
        if (offset !== undefined) return offset;
      }
      return 0;
    },
  };
}

class SyntaxMistake extends Error {}

class JsonReader {
  readonly mistakes: Mistake[] = [];
  /** Offsets of keys and list elements, by their paths. */
  readonly offsets = new Map<string, number>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    try {
      const value = this.#value([]);
      if (this.#next() !== undefined) this.#refuse('expected the end of the file');
      return value;
    } catch (error) {
      if (!(error instanceof SyntaxMistake)) throw error;
      this.mistakes.push({ offset: this.#at, message: error.message });
      return undefined;
    }
  }

  #value(path: Path): unknown {
    if (path.length > MAX_DEPTH) this.#refuse(`nested deeper than ${MAX_DEPTH} levels`);
    const next = this.#next();
    if (next === '{') return this.#object(path);
    if (next === '[') return this.#array(path);
    const scalar = this.#match(STRING) ?? this.#match(NUMBER) ?? this.#match(WORD);
    if (scalar !== undefined) return JSON.parse(scalar);
    if (next === ']' || next === '}')
      return this.#refuse('expected a value; no comma may stand before a closing bracket');
    return this.#refuse(
      'expected a value: an object, an array, a text in double quotes, a number, true, false or null',
    );
  }

  #object(path: Path): unknown {
    const entries = new Map<string, unknown>();
    this.#items('}', () => {
      const offset = this.#at;
      const key = this.#match(STRING);
      if (key === undefined) {
        return this.#refuse(
          this.#next() === '}'
            ? 'expected a key; no comma may stand before a closing bracket'
            : 'expected a key, in double quotes',
        );
      }
      const name = JSON.parse(key) as string;
      if (entries.has(name)) this.mistakes.push({ offset, message: `the key ${shown(name)} stands here twice` });
      this.offsets.set(keyOf([...path, name]), offset);
      if (this.#next() !== ':') this.#refuse('expected a colon');
      this.#at++;
      entries.set(name, this.#value([...path, name]));
    });
    return Object.fromEntries(entries);
  }

  #array(path: Path): unknown[] {
    const values: unknown[] = [];
    this.#items(']', () => {
      const at = [...path, values.length];
      this.offsets.set(keyOf(at), this.#at);
      values.push(this.#value(at));
    });
    return values;
  }

  /** Reads the items between two brackets, with commas between them. */
  #items(end: string, item: () => void): void {
    this.#at++;
    if (this.#next() === end) {
      this.#at++;
      return;
    }
    for (;;) {
      this.#next();
      item();
      const next = this.#next();
      if (next !== ',' && next !== end) this.#refuse(`expected a comma or ${end}`);
      this.#at++;
      if (next === end) return;
    }
  }

  /** Returns the character behind the white space; undefined at the end. */
  #next(): string | undefined {
    this.#match(SPACE);
    return this.#text[this.#at];
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #refuse(message: string): never {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    if (rest === '') throw new SyntaxMistake(`not JSON: the file ends here; ${message}`);
    const isComment = rest === '//' || rest === '/*' || rest.startsWith('#');
    const hint = isComment ? '; comments are allowed in YAML only, in a file that is not named .json' : '';
    throw new SyntaxMistake(`not JSON: ${message}${hint}`);
  }
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}
