/** Text in the columns of a terminal. Pure. */
import stringWidth from 'string-width';
import { oneLine } from '../../one-line.js';

const ELLIPSIS = '…';
const CHARACTERS = new Intl.Segmenter();
/** Nearly every text is printable ASCII. Its width then takes a hundredth of the time. */
const PRINTABLE_ASCII = /^[ -~]*$/;

export type Side = 'left' | 'right';

/** Columns that a terminal uses for a text: 2 for a Chinese character or an emoji, 0 for a combining accent. */
export function widthOf(text: string): number {
  return PRINTABLE_ASCII.test(text) ? text.length : stringWidth(text);
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
  for (const { segment } of CHARACTERS.segment(text)) {
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
