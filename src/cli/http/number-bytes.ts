/**
 * Numbers of the exposition as bytes. Whole numbers and millionths, which are nearly all, are written digit by digit: a string
 * for each would be garbage that survives, because V8 keeps the strings of numbers.
 */
import { valueText } from './spelling.js';

const ZERO = 0x30;
const POINT = 0x2e;
const BILLION = 1e9;
const MILLION = 1e6;
const MILLION_DIGITS = 6;
/** Decimals of up to 15 digits are those that a double has as its shortest text. */
const MAX_MILLIONTHS = 1e15;

/** Returns the number of bytes that writeNumber() writes for this value. */
export function widthOf(value: number): number {
  if (isWhole(value)) return digitsOf(value);
  const millionths = millionthsOf(value);
  if (millionths === undefined) return otherText(value).length;
  return digitsOf(Math.floor(value)) + 1 + decimalsOf(millionths);
}

/** Writes a value at `at`. `width`: widthOf() of it. */
export function writeNumber(bytes: Uint8Array, at: number, width: number, value: number): void {
  if (isWhole(value)) {
    writeDigits(bytes, at, at + width, value);
    return;
  }
  const millionths = millionthsOf(value);
  if (millionths === undefined) {
    const text = otherText(value);
    for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
    return;
  }
  const whole = Math.floor(value);
  const point = at + digitsOf(whole);
  writeDigits(bytes, at, point, whole);
  bytes[point] = POINT;
  const decimals = decimalsOf(millionths);
  writeDigits(bytes, point + 1, point + 1 + decimals, (millionths % MILLION) / 10 ** (MILLION_DIGITS - decimals));
}

/** True for -0 as well, which is written as 0. */
function isWhole(value: number): boolean {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value;
}

/** Returns undefined for a value that has no text with a point and at most six digits after it. */
function millionthsOf(value: number): number | undefined {
  const millionths = Math.round(value * MILLION);
  return millionths > 0 && millionths < MAX_MILLIONTHS && millionths / MILLION === value ? millionths : undefined;
}

/** Returns the digits after the point, without zeros at the end. */
function decimalsOf(millionths: number): number {
  let decimals = MILLION_DIGITS;
  for (let rest = millionths % MILLION; rest % 10 === 0; rest /= 10) decimals--;
  return decimals;
}

/** JSON has the same text of a finite number, which V8 does not keep. */
function otherText(value: number): string {
  return Number.isFinite(value) ? JSON.stringify(value) : valueText(value);
}

function digitsOf(whole: number): number {
  let digits = 1;
  for (let limit = 10; whole >= limit; limit *= 10) digits++;
  return digits;
}

/**
 * Writes a whole number from the last digit to the first, with zeros in front. With 32-bit arithmetic for nine digits at a
 * time it takes a third of the time.
 */
function writeDigits(bytes: Uint8Array, begin: number, end: number, value: number): void {
  let at = end;
  let rest = value;
  while (rest >= BILLION) {
    const higher = Math.floor(rest / BILLION); // exact: both are below 2^53
    let nine = rest - higher * BILLION;
    for (const beginOfNine = at - 9; at > beginOfNine; nine = (nine / 10) | 0) bytes[--at] = ZERO + (nine % 10);
    rest = higher;
  }
  let digits = rest | 0;
  while (at > begin) {
    bytes[--at] = ZERO + (digits % 10);
    digits = (digits / 10) | 0;
  }
}
