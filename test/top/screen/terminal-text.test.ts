import { expect, it } from 'vitest';
import { terminalText } from '../../../src/top/screen/terminal-text.js';

const LINES = [
  [
    { text: 'a', style: 'bad' },
    { text: '', style: 'dim' },
    { text: 'b', style: 'plain' },
  ],
  [{ text: 'cursor', style: 'cursor' }],
] as const;

it('draws lines at their places, in colours, and erases the rest of short ones', () => {
  const expected = '\x1b[1;1H\x1b[31ma\x1b[0mb\x1b[K\x1b[2;1H\x1b[7mcursor\x1b[0m';
  expect(terminalText(LINES, 6, true)).toBe(`\x1b[?2026h${expected}\x1b[?2026l`);
});

it('keeps only the cursor without colours', () => {
  const expected = '\x1b[1;1Hab\x1b[K\x1b[2;1H\x1b[7mcursor\x1b[0m';
  expect(terminalText(LINES, 6, false)).toBe(`\x1b[?2026h${expected}\x1b[?2026l`);
});
