/** Text in the columns of a terminal. Pure. */
import type * as StringWidth from 'string-width';
import { oneLine } from '../../ground/one-line.js';
import { packageFolder } from '../../ground/package.js';
import { requireFrom } from '../../ground/require-from.js';

const ELLIPSIS = '…';
/** Loaded at first use, like the segmenter: both need tables of Unicode, which take longer to load than a small command. */
let stringWidth: typeof StringWidth.default | undefined;
let segmenter: Intl.Segmenter | undefined;
/** Nearly every text is printable ASCII. Its width then takes a hundredth of the time. */
const PRINTABLE_ASCII = /^[ -~]*$/;

export type Side = 'left' | 'right';

/** Columns that a terminal uses for a text: 2 for a Chinese character or an emoji, 0 for a combining accent. */
export function widthOf(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  stringWidth ??= loadStringWidth();
  return stringWidth(text);
}

function loadStringWidth(): typeof StringWidth.default {
  const loaded = requireFrom(packageFolder('package string-width'))('string-width') as typeof StringWidth;
  return loaded.default;
}

/** Returns one line of exactly `columns`: cut with an ellipsis, or filled with blanks. */
export function fit(text: string, columns: number, side: Side = 'left'): string {
  return pad(cut(oneLine(text), columns), columns, side);
}

/** Fills a text with blanks to at least `columns`. */
export function pad(text: string, columns: number, side: Side = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return side === 'left' ? text + blanks : blanks + text;
}

/** Cuts a text to at most `columns`, between characters as readers see them: one may be several code points. */
export function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns <= 0) return '';
  let kept = '';
  let left = columns - 1;
  for (const { segment } of charactersOf(text)) {
    left -= widthOf(segment);
    if (left < 0) break;
    kept += segment;
  }
  return kept + ELLIPSIS;
}

/** Sets the first and the last column left, those between right. Each column is as wide as its widest text. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  // Not one Math.max() over all rows: a hundred thousand arguments do not fit on the stack.
  const widths = headings.map((_, i) => all.reduce((most, row) => Math.max(most, widthOf(row[i]!)), 0));
  const last = headings.length - 1;
  const cell = (text: string, i: number): string =>
    i === last ? text : pad(text, widths[i]!, i === 0 ? 'left' : 'right');
  return all.map((row) => row.map(cell).join('  ')).join('\n');
}

function charactersOf(text: string): Intl.Segments {
  return (segmenter ??= new Intl.Segmenter()).segment(text);
}
