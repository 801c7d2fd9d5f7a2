/** Numbers and names in the few columns that a table has for them. Pure. */
import stringWidth from 'string-width';
import { inThousands } from '../figures/numbers.js';
import { harmless } from '../process/output.js';
import type { Quantile } from '../figures/quantile.js';

const ELLIPSIS = '…';
const CHARACTERS = new Intl.Segmenter();
/** Nearly all that is measured, a hundred times as fast. */
const PRINTABLE_ASCII = /^[ -~]*$/;

/** Exactly as many columns of a terminal, whatever script the text is in: cut with an ellipsis, or filled with blanks. */
export function fit(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  return pad(cut(harmless(text), columns), columns, side);
}

/** At least as many columns. */
export function pad(text: string, columns: number, side: 'left' | 'right' = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, columns - widthOf(text)));
  return side === 'left' ? text + blanks : blanks + text;
}

/** At most as many columns: whole characters as readers see them, of which one may be several code points. */
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

export function widthOf(text: string): number {
  return PRINTABLE_ASCII.test(text) ? text.length : stringWidth(text);
}

const NONE = '-';
const SCALES = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z'] as const;

/** `0`, `0.4`, `12`, `999`, `1.2k`, `412M`: at most five characters, and something is never shown as 0. */
export function short(value: number | undefined): string {
  if (value === undefined) return NONE;
  if (value > 0 && value < 0.05) return '<0.1';
  const [scaled, scale] = inThousands(value, SCALES);
  return `${digits(scaled)}${scale}`;
}

/** One digit behind the point below 10, none from there on. */
function digits(value: number): string {
  return Number(value.toFixed(value < 9.95 ? 1 : 0)).toString();
}

/** `12us`, `1.2ms`, `>10s`. */
export function timeText(quantile: Quantile | undefined): string {
  if (quantile === undefined) return NONE;
  const { value: us, above } = quantile;
  const sign = above ? '>' : '';
  if (us < 999.5) return `${sign}${digits(us)}us`;
  if (us < 999_500) return `${sign}${digits(us / 1000)}ms`;
  return `${sign}${digits(us / 1e6)}s`;
}

/** Ten percent and more are whole; a ring that holds anything is not at 0. */
export function percent(share: number | undefined): string {
  if (share === undefined) return NONE;
  if (share > 0 && share < 0.005) return '<1%';
  return `${Math.round(share * 100)}%`;
}

const BARS = ' ▁▂▃▄▅▆▇█';
const ASCII_BARS = ' .:-=+*#@';

/** The last values, one column each, against the largest of them. Nothing is a blank, something never is. */
export function sparkline(values: readonly number[], columns: number, unicode: boolean): string {
  const bars = unicode ? BARS : ASCII_BARS;
  const shown = values.slice(-columns);
  const most = Math.max(...shown, 0);
  const line = shown.map((value) => {
    if (value <= 0 || most <= 0) return bars[0]!;
    return bars[Math.max(1, Math.ceil((value / most) * (bars.length - 1)))]!;
  });
  return line.join('').padStart(columns);
}
