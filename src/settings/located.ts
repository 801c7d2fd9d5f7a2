/** A parsed text that knows where each of its parts stands. */
import type { Path } from './shape.js';

export interface Mistake {
  /** Index of its first character. */
  readonly offset: number;
  readonly message: string;
}

export interface Located {
  /** Why the text has no value. */
  readonly mistakes: readonly Mistake[];
  /** Only without mistakes. May throw what the parser throws. */
  readonly value: () => unknown;
  /** Returns the offset of a key or list element; where it is not in the text, that of the nearest one around it. */
  readonly offsetOf: (path: Path) => number;
}

/** `line:column`, both from 1. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `${line}:${offset - before.lastIndexOf('\n')}`;
}
