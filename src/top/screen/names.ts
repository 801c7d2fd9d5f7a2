/** Names in a narrow column: the part that neighbours share is dim, and a name that is too long is cut in its middle. Pure. */
import { cutMiddle } from '../../view/figures/cut-middle.js';
import { terminalColumns, type Line, piece } from './line.js';

const STEM = /^.*[-_./ ](?=[^-_./ ])/su;

/** Beginnings of names up to their last separator that at least two names have. */
export function sharedStems(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const name of names) {
    const stem = stemOf(name);
    if (stem !== '' && seen.has(stem)) shared.add(stem);
    seen.add(stem);
  }
  return shared;
}

function stemOf(name: string): string {
  return STEM.exec(name)?.[0] ?? '';
}

/** Returns a name as exactly `columns`, its shared stem dim. */
export function nameLine(name: string, columns: number, stems: ReadonlySet<string>): Line {
  const stem = stemOf(name);
  const dim = stems.has(stem) ? stem : '';
  const text = cutMiddle(name, columns);
  // After a cut, the dim part ends with the ellipsis.
  const cutAt = text === name ? dim.length : text.indexOf('…') + 1;
  const dimLength = dim === '' ? 0 : cutAt;
  const blanks = ' '.repeat(Math.max(0, columns - terminalColumns(text)));
  return [piece(text.slice(0, dimLength), 'dim'), piece(text.slice(dimLength) + blanks)];
}
