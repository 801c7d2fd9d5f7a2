/** 64-bit words of the addon, read in place. */
import { checkVersion } from './addon.js';

export class Words {
  readonly buffer: ArrayBuffer;
  readonly #bigints: BigUint64Array;
  readonly #halves: Uint32Array;
  readonly #doubles: Float64Array;
  constructor(buffer: ArrayBuffer) {
    this.buffer = buffer;
    this.#bigints = new BigUint64Array(buffer);
    this.#halves = new Uint32Array(buffer);
    this.#doubles = new Float64Array(buffer);
  }

  /** Returns the index of the first word after the version. @throws NixlTelemetryError ADDON_MISSING if another build wrote the words */
  begin(): number {
    checkVersion(this.countAt(0));
    return 1;
  }

  /** Reads a count, a size or an id; exact to 2^53. */
  countAt(at: number): number {
    return (this.#halves[2 * at + 1] as number) * 0x1_0000_0000 + (this.#halves[2 * at] as number);
  }

  /** Reads a 32-bit number that may be negative. */
  signedAt(at: number): number {
    return (this.#halves[2 * at] as number) | 0;
  }

  doubleAt(at: number): number {
    return this.#doubles[at] as number;
  }

  wordAt(at: number): bigint {
    return this.#bigints[at] as bigint;
  }

  /** Reads 128 bits, low word first. */
  wideAt(at: number): bigint {
    const low = this.wordAt(at);
    const hasHigh = this.#halves[2 * at + 2] !== 0 || this.#halves[2 * at + 3] !== 0;
    return hasHigh ? (this.wordAt(at + 1) << 64n) | low : low;
  }

  /** Returns a view of words that are doubles. */
  doublesAt(at: number, length: number): Float64Array {
    return this.#doubles.subarray(at, at + length);
  }
}
