/** A page that grows at its end, as bytes. */
import { widthOf, writeNumber } from './number-bytes.js';

const LINE_END = 0x0a;

export class PageBytes {
  #bytes: Buffer;
  #end = 0;

  /** `room`: memory to write to; other memory follows if it becomes full. */
  constructor(room: Uint8Array) {
    this.#bytes = Buffer.from(room.buffer, room.byteOffset, room.length);
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
    this.#makeRoom(width);
    writeNumber(this.#bytes, this.#end, width, value);
    this.#end += width;
  }

  /** Copies the bytes from `begin` to the end of the page to the beginning of `target`. */
  copyTo(target: Uint8Array, begin: number): void {
    target.set(this.#bytes.subarray(begin, this.#end));
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
