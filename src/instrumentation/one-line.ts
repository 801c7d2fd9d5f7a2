/** Control characters, line separators and what turns the direction of text: all that could forge or hide a line of a log. */
// eslint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Names come from files that anyone may have made. What is not printable becomes \xNN or \uNNNN. */
export function oneLine(text: string): string {
  return text.replaceAll(UNPRINTABLE, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16)}`;
  });
}
