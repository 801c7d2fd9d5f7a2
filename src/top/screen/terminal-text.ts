/** Lines as the text and control sequences that a terminal draws. Pure. */
import { type Line, type Piece, type Style, widthOfLine } from './line.js';

/** Synchronised updates: terminals with this feature show only whole frames. */
const BEGIN_FRAME = '\x1b[?2026h';
const END_FRAME = '\x1b[?2026l';

/** Only the sixteen colours of the terminal's own theme. */
const CODES: Readonly<Record<Style, string>> = {
  plain: '',
  bold: '1',
  dim: '2',
  ok: '32',
  warn: '33',
  bad: '31',
  info: '34',
  tx: '34',
  rx: '33',
  p50: '2;35',
  p99: '35',
  warnGround: '30;43',
  badGround: '97;41',
  cursor: '7',
};
/** Kept without colours: the cursor would be invisible. */
const WITHOUT_COLOUR: ReadonlySet<Style> = new Set(['cursor']);

/** Returns a whole frame. A cursor of reverse text stays without colours. */
export function terminalText(lines: readonly Line[], columns: number, isColoured: boolean): string {
  const text = lines.map((line, i) => {
    // After a full line the cursor is on the last character, which the code would erase.
    const rest = widthOfLine(line) < columns ? '\x1b[K' : '';
    return `\x1b[${i + 1};1H${line.map((piece) => styled(piece, isColoured)).join('')}${rest}`;
  });
  return `${BEGIN_FRAME}${text.join('')}${END_FRAME}`;
}

function styled({ text, style }: Piece, isColoured: boolean): string {
  if (text === '') return '';
  const code = isColoured || WITHOUT_COLOUR.has(style) ? CODES[style] : '';
  return code === '' ? text : `\x1b[${code}m${text}\x1b[0m`;
}
