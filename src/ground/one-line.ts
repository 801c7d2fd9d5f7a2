/** Text without characters that could forge, hide or reverse a part of a line. Pure. */

/** Control characters, line separators, and characters without a width. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Replaces unprintable characters by \xNN or \u{NNNN}. Names come from files that any user may have made. */
export function oneLine(text: string): string {
  return text.replaceAll(UNPRINTABLE, escaped);
}

/** Works like oneLine(), but keeps line ends and tabs. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (char) => (char === '\n' || char === '\t' ? char : escaped(char)));
}

/** Returns JSON with every unprintable character escaped: a terminal shows them and does not obey them. */
export function printableJson(value: unknown): string {
  const asUnits = (char: string): string =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
  return JSON.stringify(value).replaceAll(UNPRINTABLE, asUnits);
}

function escaped(char: string): string {
  const code = char.codePointAt(0)!.toString(16);
  return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`;
}
