/** All that could forge, hide or turn round a part of a line: control characters, line separators, and what has no width. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Names come from files that anyone may have made. What is not printable becomes \xNN or \u{NNNN}. */
export function oneLine(text: string): string {
  return text.replaceAll(UNPRINTABLE, escaped);
}

/** As oneLine(), but line ends and tabs stay. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (char) => (char === '\n' || char === '\t' ? char : escaped(char)));
}

/** The same JSON, without a character that a terminal would take for anything but itself. */
export function printableJson(value: unknown): string {
  const asUnits = (char: string): string =>
    Array.from({ length: char.length }, (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`).join('');
  return JSON.stringify(value).replaceAll(UNPRINTABLE, asUnits);
}

function escaped(char: string): string {
  const code = char.codePointAt(0)!.toString(16);
  return code.length > 2 ? `\\u{${code}}` : `\\x${code.padStart(2, '0')}`;
}
