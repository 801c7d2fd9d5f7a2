/** Graphs of characters: braille, with two columns and four rows of dots in each, or ASCII. Pure. */
import type { Line, Style } from './line.js';

/** Dots of a braille character, from its lowest row up, of its left and its right column. */
const LEFT = [0x40, 0x04, 0x02, 0x01] as const;
const RIGHT = [0x80, 0x20, 0x10, 0x08] as const;
const BRAILLE = 0x28_00;
const DOTS = 4;
const ASCII = [' ', '.', ':', '|', '|'] as const;

/** Values to be drawn in one column of dots: heights from 0 to 1, NaN for a gap. */
export interface Area {
  readonly upper: ArrayLike<number>;
  /** Height below which the second style is drawn. */
  readonly lower?: ArrayLike<number>;
  readonly upperStyle: Style;
  readonly lowerStyle?: Style;
  /** Columns of dots in the style `warn`, whatever they hold: above 0. */
  readonly marked?: ArrayLike<number>;
}

/** Number of values that a graph of so many columns shows. */
export function valuesIn(columns: number): number {
  return columns * 2;
}

/** Draws an area as `rows` lines, the highest first. A known value above 0 has one dot at least. */
export function graph(area: Area, columns: number, rows: number, unicode: boolean): Line[] {
  return Array.from({ length: rows }, (_, row) => {
    const base = (rows - 1 - row) * DOTS;
    const pieces: { text: string; style: Style }[] = [];
    for (let column = 0; column < columns; column++) {
      const left = dotsOf(area.upper[2 * column]!, rows) - base;
      const right = dotsOf(area.upper[2 * column + 1]!, rows) - base;
      const text = unicode ? braille(left, right) : ASCII[clamped(Math.max(left, right))]!;
      const style = styleAt(area, column, base, rows);
      const last = pieces.at(-1);
      if (last?.style === style) last.text += text;
      else pieces.push({ text, style });
    }
    return pieces;
  });
}

function styleAt({ lower, upperStyle, lowerStyle, marked }: Area, column: number, base: number, rows: number): Style {
  const places = [2 * column, 2 * column + 1];
  if (marked !== undefined && places.some((place) => marked[place]! > 0)) return 'warn';
  if (lower === undefined || lowerStyle === undefined) return upperStyle;
  const level = Math.max(...places.map((place) => dotsOf(lower[place]!, rows)));
  return level >= base + DOTS / 2 ? lowerStyle : upperStyle;
}

function dotsOf(height: number, rows: number): number {
  if (!(height > 0)) return 0;
  return Math.min(rows * DOTS, Math.max(1, Math.round(height * rows * DOTS)));
}

function clamped(dots: number): number {
  return Math.min(DOTS, Math.max(0, dots));
}

function braille(left: number, right: number): string {
  let code = BRAILLE;
  for (let i = 0; i < clamped(left); i++) code += LEFT[i]!;
  for (let i = 0; i < clamped(right); i++) code += RIGHT[i]!;
  return String.fromCharCode(code);
}

const BARS = ' ▁▂▃▄▅▆▇█';
const ASCII_BARS = ' .:-=+*#@';

/** Draws values from 0 to `top`, one column each. Only 0 and a gap are blanks. */
export function sparkline(values: Iterable<number>, top: number, unicode: boolean): string {
  const bars = unicode ? BARS : ASCII_BARS;
  let text = '';
  for (const value of values) {
    text += value > 0 ? bars[Math.min(bars.length - 1, Math.ceil((value / top) * (bars.length - 1)))]! : ' ';
  }
  return text;
}

const EIGHTHS = '▏▎▍▌▋▊▉█';

/** Draws a share from 0 to 1 as a bar of `columns`. A share above 0 is visible. */
export function bar(share: number, columns: number, unicode: boolean): string {
  if (!(share > 0)) return ' '.repeat(columns);
  const whole = Math.min(1, share) * columns;
  if (!unicode) return '#'.repeat(Math.max(1, Math.round(whole))).padEnd(columns);
  const eighths = Math.max(1, Math.round(whole * 8));
  const rest = eighths % 8;
  return ('█'.repeat(Math.floor(eighths / 8)) + (rest === 0 ? '' : EIGHTHS[rest - 1]!)).padEnd(columns);
}

/** Returns the least of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten that is not below the value; 1 for 0. */
export function niceTop(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * (1 - 1e-9))! * power;
}

/** Whole decades that hold both values; `top` is at least ten times `bottom`. */
export function decades(lowest: number, highest: number): { bottom: number; top: number } {
  const bottom = 10 ** Math.floor(Math.log10(lowest));
  return { bottom, top: Math.max(bottom * 10, 10 ** Math.ceil(Math.log10(highest) - 1e-9)) };
}

/** Returns values as heights on a logarithmic scale. The lowest ones keep a visible height. */
export function logHeights(values: Float64Array, { bottom, top }: { bottom: number; top: number }): Float64Array {
  const height = Math.log10(top / bottom);
  return values.map((value) => (value > 0 ? Math.max(0.01, Math.log10(value / bottom) / height) : value));
}
