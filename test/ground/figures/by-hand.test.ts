/** Figures have one style, because one room makes them all. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ROOM = 'src/ground/figures/';
const BY_HAND = [
  // Digits chosen in place.
  /\.to(Fixed|Precision|Exponential|LocaleString|LocaleDateString|LocaleTimeString)\(/,
  /\bIntl\.(NumberFormat|DateTimeFormat|RelativeTimeFormat|PluralRules|DurationFormat)\b/,
  // A unit after a number in a text.
  /\$\{[^}`]*\} ?(ns|µs|us|ms|s|min|h|d|B|[kMGT]B|[KMGT]i?B|(milli|micro)?seconds|minutes|hours|days)(?![\w-])/,
  // A noun after a condition of its number.
  /(=== 1|!== 1|> 1) \? ('1 |'s'|'' : 's')/,
  /\b86_?400_?000\b/,
];
/** Numbers that are shown to nobody, or of another kind. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/page/browser/common/dom.ts': 'a width of the style sheet',
  'src/page/browser/view.ts': 'seconds in the address of the page',
  'src/serve/exposition/spelling.ts': 'the canonical form of a bound in OpenMetrics',
  'src/top/agent-object.ts': 'a number of the JSON output',
};

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => path.posix.join('src', name))
  .filter((file) => !file.startsWith(ROOM));

/** Lines without comments that format a number by hand: `src/top/columns.ts: toFixed(2)`. */
function byHand(file: string): string[] {
  const code = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  return code.split('\n').flatMap((line) => (BY_HAND.some((one) => one.test(line)) ? [`${file}: ${line.trim()}`] : []));
}

it('no file outside the room of figures formats a number', () => {
  expect(files.filter((file) => !(file in EXCEPTIONS)).flatMap(byHand)).toEqual([]);
});

it('each exception is one', () => {
  expect(Object.keys(EXCEPTIONS).filter((file) => !files.includes(file) || byHand(file).length === 0)).toEqual([]);
});
