/** Lines of the screen: pieces of text, each with a style. Pure. */
import { cut, widthOf } from '../../view/figures/table.js';

export type Style =
  | 'plain'
  | 'bold'
  | 'dim'
  | 'ok'
  | 'warn'
  | 'bad'
  | 'info'
  | 'tx'
  | 'rx'
  | 'p50'
  | 'p99'
  /** Whole lines and cells on a ground of their colour. */
  | 'warnGround'
  | 'badGround'
  | 'cursor';

export interface Piece {
  readonly text: string;
  readonly style: Style;
}
export type Line = readonly Piece[];

export const EMPTY: Line = [];

export function piece(text: string, style: Style = 'plain'): Piece {
  return { text, style };
}

export function plain(text: string): Line {
  return [piece(text)];
}

export function blank(columns: number): Piece {
  return piece(' '.repeat(Math.max(0, columns)));
}

/** ASCII, braille, blocks, frames and the shapes of states: each is one column wide, and needs no table of Unicode. */
const NARROW = /^[ -~\u2800-\u28ff\u2500-\u259f●○▲◆✕✓◷◌▴▾…·µ–×÷]*$/;

/** Columns that a terminal uses for a text. */
export function terminalColumns(text: string): number {
  return NARROW.test(text) ? text.length : widthOf(text);
}

export function widthOfLine(line: Line): number {
  let width = 0;
  for (const { text } of line) width += terminalColumns(text);
  return width;
}

/** Cuts a text to at most `columns`. */
export function cutText(text: string, columns: number): string {
  if (terminalColumns(text) <= columns) return text;
  if (columns <= 0) return '';
  return NARROW.test(text) ? `${text.slice(0, columns - 1)}…` : cut(text, columns);
}

/** Cuts a line to at most `columns`. */
export function narrowed(line: Line, columns: number): Line {
  if (widthOfLine(line) <= columns) return line;
  let left = columns;
  return line.flatMap(({ text, style }) => {
    const kept = cutText(text, left);
    left -= terminalColumns(kept);
    return kept === '' ? [] : [{ text: kept, style }];
  });
}

/** Returns a line of exactly `columns`: cut, or filled with blanks. */
export function filled(line: Line, columns: number): Line {
  const kept = narrowed(line, columns);
  const missing = columns - widthOfLine(kept);
  return missing > 0 ? [...kept, blank(missing)] : kept;
}

/** Sets `right` at the right edge. `left` gives way if there is no room for both. */
export function edgeToEdge(left: Line, right: Line, columns: number): Line {
  const room = columns - widthOfLine(right);
  return room < 2 ? narrowed(left, columns) : [...filled(left, room - 1), blank(1), ...right];
}

export function styled(line: Line, style: Style): Line {
  return line.map(({ text }) => ({ text, style }));
}
