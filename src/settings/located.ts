/** Parsed text with the positions of its parts. */
import type { Path } from './shape.js';

export interface Mistake {
  /** Index of its first character. */
  readonly offset: number;
  readonly message: string;
}

export interface Located {
  /** Reasons why the text has no value; empty if it has one. */
  readonly mistakes: readonly Mistake[];
  /** Returns the value of a text without mistakes. May throw the parser's errors. */
  readonly value: () => unknown;
  /** Returns the offset of a key or list element; if the text lacks it, the offset of the nearest enclosing one. */
  readonly offsetOf: (path: Path) => number;
}

/** Returns `line:column`, both counted from 1. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `${line}:${offset - before.lastIndexOf('\n')}`;
}
