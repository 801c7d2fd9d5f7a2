/** A page that grows at its end, as bytes. */
import { valueText } from './spelling.js';

/** Longest number: `-1.2345678901234567e-300`. */
const LONGEST_NUMBER = 24;
const LINE_END = 0x0a;
const ZERO = 0x30;
const BILLION = 1e9;

export class PageBytes {
  #bytes: Buffer;
  #end = 0;

  constructor(capacity = 4096) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#end;
  }

  /** Removes all bytes from `length` on. */
  rewind(length: number): void {
    this.#end = length;
  }

  /** Appends the part of `bytes` from `begin` to `end`. */
  append(bytes: Uint8Array, begin = 0, end = bytes.length): void {
    this.#makeRoom(end - begin);
    this.#bytes.set(begin === 0 && end === bytes.length ? bytes : bytes.subarray(begin, end), this.#end);
    this.#end += end - begin;
  }

  text(text: string): void {
    this.#makeRoom(3 * text.length); // most bytes of UTF-8 for a unit of UTF-16
    this.#end += this.#bytes.write(text, this.#end);
  }

  endLine(): void {
    this.#makeRoom(1);
    this.#bytes[this.#end++] = LINE_END;
  }

  number(value: number): void {
    const width = widthOf(value);
    this.#makeRoom(LONGEST_NUMBER);
    writeNumber(this.#bytes, this.#end, width, value);
    this.#end += width;
  }

  /** Returns a copy of the bytes from `begin` to the end of the page. */
  copyFrom(begin: number): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(begin, this.#end)); // no Buffer: parts of one are slow to make
  }

  /** Returns the page. Nothing may be appended afterwards. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#end + bytes));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}

/** Returns the number of bytes that writeNumber() writes for this value. */
export function widthOf(value: number): number {
  if (!isWhole(value)) return valueText(value).length;
  let width = 1;
  for (let limit = 10; value >= limit; limit *= 10) width++;
  return width;
}

/** Writes a value at `at`. `width`: widthOf() of it. */
export function writeNumber(bytes: Uint8Array, at: number, width: number, value: number): void {
  if (isWhole(value)) {
    writeDigits(bytes, at + width, value);
    return;
  }
  const text = valueText(value);
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
}

/** True for -0 as well, which is written as 0. */
function isWhole(value: number): boolean {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value;
}

/** Writes from the last digit to the first, with 32-bit arithmetic for nine digits at a time: it takes a third of the time. */
function writeDigits(bytes: Uint8Array, end: number, value: number): void {
  let at = end;
  let rest = value;
  while (rest >= BILLION) {
    const higher = Math.floor(rest / BILLION); // exact: both are below 2^53
    let nine = rest - higher * BILLION;
    for (const begin = at - 9; at > begin; nine = (nine / 10) | 0) bytes[--at] = ZERO + (nine % 10);
    rest = higher;
  }
  let digits = rest | 0;
  do {
    bytes[--at] = ZERO + (digits % 10);
    digits = (digits / 10) | 0;
  } while (digits > 0);
}
