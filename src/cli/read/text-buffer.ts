/** Builds UTF-8 from millions of pieces by copying bytes, without strings. Pure. */

const MOST_EXACT_HIGH = 2 ** 21;
const TWO_32 = 2 ** 32;
const BILLION = 1_000_000_000;
const ZERO = 48;
const NOTHING = new Uint8Array(0);

export class TextBuffer {
  #bytes: Uint8Array;
  #length = 0;

  constructor(bytes: number) {
    this.#bytes = Buffer.allocUnsafe(bytes);
  }

  put(piece: Uint8Array): void {
    const bytes = this.#room(piece.length);
    const at = this.#length;
    // A call of set() costs as much as ten single bytes.
    if (piece.length > 10) bytes.set(piece, at);
    else for (let i = 0; i < piece.length; i++) bytes[at + i] = piece[i]!;
    this.#length = at + piece.length;
  }

  /** Writes an unsigned 64-bit number, given as two halves, in decimal. */
  putDecimal(high: number, low: number): void {
    if (high >= MOST_EXACT_HIGH) return this.put(utf8(String((BigInt(high) << 32n) | BigInt(low))));
    const value = high * TWO_32 + low;
    const billions = Math.floor(value / BILLION);
    if (billions === 0) return this.putDigits(value, digitsOf(value));
    // 2^53 has 16 digits.
    this.putDigits(billions, digitsOf(billions));
    this.putDigits(value - billions * BILLION, 9);
  }

  /** Writes a number below 2^31 with exactly so many digits, filled with leading zeros. */
  putDigits(value: number, digits: number): void {
    const bytes = this.#room(digits);
    const begin = this.#length;
    let rest = value | 0;
    for (let at = begin + digits - 1; at >= begin; at--) {
      const tenth = (rest / 10) | 0;
      bytes[at] = ZERO + rest - tenth * 10;
      rest = tenth;
    }
    this.#length = begin + digits;
  }

  /** Returns all bytes so far and begins a new buffer: the caller may still be writing this one. */
  take(): Uint8Array {
    if (this.#length === 0) return NOTHING;
    const text = this.#bytes.subarray(0, this.#length);
    this.#bytes = Buffer.allocUnsafe(this.#bytes.length);
    this.#length = 0;
    return text;
  }

  #room(more: number): Uint8Array {
    if (this.#length + more > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#length + more));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}

export function utf8(text: string): Uint8Array {
  return Buffer.from(text, 'utf8');
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let power = 10; value >= power; power *= 10) digits++;
  return digits;
}
