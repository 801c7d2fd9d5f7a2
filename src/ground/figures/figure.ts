/**
 * Numbers and their units as text, in the one style of page, screen, tables and messages: `387 µs`, `5.40 GB/s`, `10,887`. Pure; the
 * live page uses this module, too.
 */
import type { Exact } from '../exact.js';

/** A number as text. The unit is empty for 0, for unknown values and for plain numbers. */
export interface Figure {
  readonly value: string;
  readonly unit: string;
}

/** Undefined, null and values that are no finite number are unknown. */
type Value = Exact | null | undefined;

/** Text of an unknown value. */
export const UNKNOWN = '-';
export const BYTE_UNITS: readonly string[] = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB'];
export const NUMBER_UNITS: readonly string[] = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z'];
const BINARY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const TIME_UNITS = ['µs', 'ms', 's', 'ks', 'Ms', 'Gs', 'Ts'];
/** Smaller numbers are shown whole, with commas. */
const SHORTENED_FROM = 1e7;
const SHORTENED_IN_NARROW_PLACES_FROM = 9999.5;

let space = ' ';

/** Sets what is between a number and its unit. The page lets no line break divide them; in a terminal a search finds a blank. */
export function separateUnitsWith(separator: string): void {
  space = separator;
}

/** Joins a number and its unit, or its noun. */
export function withUnit(value: string, unit: string): string {
  return unit === '' || unit.startsWith('/') ? value + unit : value + space + unit;
}

export function figureText({ value, unit }: Figure): string {
  return withUnit(value, unit);
}

/** In powers of 1000: `0`, `829 B`, `5.45 GB`. */
export const bytesFigure = known((value) => inUnits(value, BYTE_UNITS));
export const bytesText = asText(bytesFigure);

/** Bytes per second: `33.6 GB/s`. */
export const bytesRateFigure = known((value) => perSecond(inUnits(value, BYTE_UNITS)));
export const bytesRateText = asText(bytesRateFigure);

/** Microseconds: `12 µs`, `7.60 ms`, `41.2 s`. */
export const timeFigure = known((value) => inUnits(value, TIME_UNITS));
export const timeText = asText(timeFigure);

/** `0.4`, `5.8`, `310`, `10,887`, and from ten million on `252 M`. */
export const numberFigure = known((value) => shortened(value, SHORTENED_FROM));
export const numberText = asText(numberFigure);

/** `0/s`, `5.8/s`, `252 M/s` */
export const perSecondFigure = known((value) => perSecond(shortened(value, SHORTENED_FROM)), perSecond(zero()));
export const perSecondText = asText(perSecondFigure);

/** For narrow places: `310`, `9,999`, `11.1 k`, `2.50 M`. */
export const shortText = asText(known((value) => shortened(value, SHORTENED_IN_NARROW_PLACES_FROM)));

/** Bytes in powers of 1024, for bounds that are powers of two: `64 KiB`. */
export const binaryText = asText(known((value) => withoutZeros(inUnits(value, BINARY_UNITS, 1024))));

/** A number with all its digits: `12,345,678`. */
export function wholeText(value: Exact): string {
  return value.toLocaleString('en-US');
}

/** A bound of a scale or range, without zeros behind the point: `5 GB/s`. */
export function boundText(figure: Figure): string {
  return figureText(withoutZeros(figure));
}

/** `250 to 500 µs`, `500 µs to 1 ms`: a unit of both stands once. */
export function rangeText(low: Figure, high: Figure): string {
  const isShared = low.unit === high.unit || low.value === '0';
  return `${boundText(isShared ? { ...low, unit: '' } : low)} to ${boundText(high)}`;
}

/** A lower bound of a number: `≥ 19`. A bound of 0 says nothing: then it is `none`. */
export function leastFigure(bound: number, none: string): Figure {
  const { value, unit } = numberFigure(bound);
  return bound === 0 ? { value: none, unit: '' } : { value: withUnit('≥', value), unit };
}

/** `42%`. Only 0 is shown as 0%, and only 1 as 100%. */
export function percent(share: number | null | undefined): string {
  if (share === undefined || share === null || !Number.isFinite(share)) return UNKNOWN;
  if (share > 0 && share < 0.01) return '<1%';
  if (share < 1 && share > 0.99) return '>99%';
  return `${Math.round(share * 100)}%`;
}

/** A multiple of `step`, with the digits behind the point that the step has, where it is 1, 2, 2.5 or 5 times a power of ten. */
export function stepText(value: number, step: number): string {
  const power = Math.floor(Math.log10(step) + 1e-9);
  const isHalf = Math.abs(step / 10 ** power - 2.5) < 1e-6;
  return value === 0 ? '0' : value.toFixed(Math.max(0, (isHalf ? 1 : 0) - power));
}

/** Text of a coordinate of a drawing: a tenth of a pixel. */
export function coordinate(px: number): string {
  return px.toFixed(1);
}

/** `1 ring`, `2 rings`, `10,887 rings`; `many` is for words that need another plural. */
export function plural(count: Exact, one: string, many = `${one}s`): string {
  return withUnit(wholeText(count), Number(count) === 1 ? one : many);
}

/** `once`, `214 times` */
export function times(count: number): string {
  return count === 1 ? 'once' : plural(count, 'time');
}

/** `a`, `a and b`, `a, b and 3 more` */
export function listed(names: readonly string[], most = 2): string {
  const shown = names.slice(0, most);
  const left = names.length - shown.length;
  if (left > 0) return `${shown.join(', ')} and ${withUnit(wholeText(left), 'more')}`;
  return shown.length <= 1 ? shown.join('') : `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)!}`;
}

export function ifKnown<T>(value: T | null | undefined, format: (value: T) => string, unknown = UNKNOWN): string {
  return value === null || value === undefined ? unknown : format(value);
}

function zero(): Figure {
  return { value: '0', unit: '' };
}

function perSecond({ value, unit }: Figure): Figure {
  return { value, unit: `${unit}/s` };
}

function asText(figure: (value: Value) => Figure): (value: Value) => string {
  return (value) => figureText(figure(value));
}

/** `figure`: makes the figure of a number above 0. */
function known(figure: (value: number) => Figure, ofZero = zero()): (value: Value) => Figure {
  return (value) => {
    const number = value === undefined || value === null ? NaN : Number(value);
    if (!Number.isFinite(number)) return { value: UNKNOWN, unit: '' };
    if (number === 0) return ofZero;
    const { value: text, unit } = figure(Math.abs(number));
    return { value: number < 0 ? `-${text}` : text, unit };
  };
}

function shortened(value: number, from: number): Figure {
  return value < from ? { value: amount(value), unit: '' } : inUnits(value, NUMBER_UNITS);
}

/** Divides by `step` per unit until the number is below it. In the first unit, values are often whole numbers. */
function inUnits(value: number, units: readonly string[], step = 1000): Figure {
  let scaled = value;
  let unit = 0;
  // 999.6 would be printed as 1000 of its unit.
  for (; Math.round(scaled) >= step && unit < units.length - 1; unit++) scaled /= step;
  return { value: unit === 0 ? amount(scaled) : threeDigits(scaled), unit: units[unit]! };
}

/** With zeros, so that its width hardly changes. */
function threeDigits(value: number): string {
  return value < 999.5 ? value.toPrecision(3) : amount(value);
}

/** Two digits below 10, whole numbers with commas above. Only 0 is shown as 0. */
function amount(value: number): string {
  if (value < 0.1) return '<0.1';
  return wholeText(value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value));
}

function withoutZeros({ value, unit }: Figure): Figure {
  return { value: value.includes('.') ? value.replace(/\.?0+$/, '') : value, unit };
}
