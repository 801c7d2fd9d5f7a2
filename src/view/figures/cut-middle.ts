/** Names cut in the middle: those of a fleet often differ only at their ends. Pure. */
import { widthOf } from './table.js';

const ELLIPSIS = '…';

/** Cuts a text to at most `columns` and keeps its beginning and end. Cuts between characters as readers see them. */
export function cutMiddle(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns <= 0) return '';
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  const room = columns - 1;
  const end = fitting(characters.toReversed(), Math.floor(room / 2))
    .reverse()
    .join('');
  const begin = fitting(characters, room - widthOf(end)).join('');
  return begin + ELLIPSIS + end;
}

/** Returns the first characters that fit into so many columns. */
function fitting(characters: readonly string[], columns: number): string[] {
  let left = columns;
  const tooMany = characters.findIndex((character) => (left -= widthOf(character)) < 0);
  return characters.slice(0, tooMany === -1 ? undefined : tooMany);
}
