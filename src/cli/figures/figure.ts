/**
 * Numbers with three significant digits and a unit, zeros kept, so that their width hardly changes: `5.40 GB/s`. Pure; the live
 * page uses this module, too.
 */
import { amount, BYTE_UNITS } from './formats.js';

/** A number as text. The unit is empty for 0 and for unknown values. */
export interface Figure {
  readonly value: string;
  readonly unit: string;
}

/** Undefined and null are unknown. */
type Value = number | null | undefined;

const UNKNOWN: Figure = { value: '–', unit: '' };
const ZERO: Figure = { value: '0', unit: '' };
const NO_BREAK_SPACE = '\u00A0';
const TIMES = ['µs', 'ms', 's'];
const MILLIONS = ['M', 'G', 'T', 'P', 'E', 'Z'];
const LETTERS = ['', 'k', ...MILLIONS];
/** Smaller counts are shown whole, with commas. */
const SHORTENED_FROM = 1e7;

/** Returns a figure as one text that no line break divides. */
export function figureText({ value, unit }: Figure): string {
  return unit === '' ? value : `${value}${NO_BREAK_SPACE}${unit}`;
}

/** In powers of 1000: `0`, `829 B`, `5.45 GB`. */
export const bytesFigure = known((value) => inUnits(value, BYTE_UNITS, whole));

/** Bytes per second: `33.6 GB/s`. */
export const bytesRateFigure = known((value) => {
  const { value: text, unit } = inUnits(value, BYTE_UNITS, whole);
  return { value: text, unit: `${unit}/s` };
});

/** Microseconds: `5.55 µs`, `7.60 ms`, `41.2 s`. */
export const timeFigure = known((value) => inUnits(value, TIMES));

/** A whole number: `10,887`, and from ten million on `252 M`. */
export const countFigure = known((value) => shortened(value, whole));

/** A number per second or of any other kind: `5.8`, `310`, `10,887`, `252 M`. */
export const rateFigure = known((value) => shortened(value, amount));

/** As narrow as a label at the end of a line: `310`, `11.1k`, `2.50M`. */
export function shortText(number: number): string {
  const { value, unit } = number === 0 ? ZERO : inUnits(number, LETTERS);
  return value + unit;
}

/** `1 ring`, `2 rings`, `10,887 rings`; `many` is for words that need another plural. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? `1${NO_BREAK_SPACE}${one}` : `${figureText(countFigure(count))}${NO_BREAK_SPACE}${many}`;
}

function known(figure: (value: number) => Figure): (value: Value) => Figure {
  return (value) => {
    if (value === undefined || value === null || Number.isNaN(value)) return UNKNOWN;
    return value === 0 ? ZERO : figure(value);
  };
}

function shortened(value: number, below: (value: number) => string): Figure {
  if (value < SHORTENED_FROM) return { value: below(value), unit: '' };
  return inUnits(value / 1e6, MILLIONS);
}

/** `inFirst`: text in the first unit, which may have whole numbers only. */
function inUnits(value: number, units: readonly string[], inFirst = threeDigits): Figure {
  let scaled = value;
  let unit = 0;
  // 999.6 would be printed as 1000 of its unit.
  for (; Math.round(scaled) >= 1000 && unit < units.length - 1; unit++) scaled /= 1000;
  return { value: unit === 0 ? inFirst(scaled) : threeDigits(scaled), unit: units[unit]! };
}

function threeDigits(value: number): string {
  return value < 999.5 && value >= 1e-3 ? value.toPrecision(3) : value < 1e-3 ? '<0.001' : whole(value);
}

function whole(value: number): string {
  return value < 1 ? '<1' : Math.round(value).toLocaleString('en-US');
}

const SPANS: readonly [unit: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** Milliseconds in the largest unit that fits, rounded down: `12 s`, `5 min`, `3 h`. */
export function spanText(ms: number): string {
  const [unit, unitMs] = SPANS.find(([, size]) => ms >= size) ?? SPANS.at(-1)!;
  return `${Math.floor(ms / unitMs)}${NO_BREAK_SPACE}${unit}`;
}
