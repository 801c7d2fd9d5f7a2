/** Templates of a page: the bytes of series without their numbers, and the steps that put numbers between them. */
import { addon, type Handle } from '../../shm-bridge/addon.js';
import type { Family } from './spelling.js';

/** Kinds of numbers that a step appends after its bytes, as in native/page/template.h. */
export const What = {
  NOTHING: 0,
  COUNT: 1,
  WIDE: 2,
  DOUBLE: 3,
  GIVEN: 4,
  TOTAL: 5,
  FIRST: 6,
  RUNNING: 7,
  EXPONENTIAL: 8,
  OPEN: 9,
  CLOSE: 10,
} as const;
export const How = { TEXT: 0, EIGHT_BYTES: 1, VARINT: 2, NOT_AT_ALL: 3 } as const;
export type How = (typeof How)[keyof typeof How];

/** A number: `argument` is the divisor of a COUNT, WIDE or DOUBLE, and the number of words of a TOTAL. */
export type Source = readonly [what: (typeof What)[keyof typeof What], place: number, argument: number];

/** Given in place of a number that is not there. */
export const ABSENT = -0;

/** Returns a number as it is given: never ABSENT. @throws TypeError if it is none */
export function givenNumber(value: number): number {
  return value + 0;
}

/** Families of a page, and the agents that have their series. */
export interface PagePart {
  /** Undefined for a family without a name, which is not on the page. */
  readonly families: readonly (Family | undefined)[];
  /** True if families without series are on the page. */
  readonly isKept: boolean;
  readonly templates: readonly Handle[];
  readonly words: ArrayBuffer;
  /** Index and number of the words of each agent, and the end of its numbers in `given`. */
  readonly places: Uint32Array;
  readonly given: Float64Array;
}

/** Bytes of a whole number in protobuf. */
export function varintBytes(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return [...bytes, rest];
}

const STEP_WORDS = 4;

/** Builds a template from its first byte to its last one. */
export class TemplateWriter {
  #bytes = Buffer.allocUnsafe(4096);
  #length = 0;
  /** Bytes before the last step's number. */
  #stepped = 0;
  readonly #steps: number[] = [];
  readonly #familyEnds: number[] = [];

  text(text: string): void {
    this.#makeRoom(3 * text.length); // most bytes of UTF-8 for a unit of UTF-16
    this.#length += this.#bytes.write(text, this.#length);
  }

  bytes(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  byte(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length++] = byte;
  }

  double(value: number): void {
    this.#makeRoom(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  varint(value: number): void {
    for (const byte of varintBytes(value)) this.byte(byte);
  }

  /** Appends the sum of the sources. Only the first may be no running number. */
  number(sources: readonly Source[], how: How): void {
    const last = sources.length - 1;
    for (const [i, source] of sources.entries()) this.#step(source, i === last ? how : How.NOT_AT_ALL);
  }

  exponential(source: Source): void {
    this.#step(source, How.NOT_AT_ALL);
  }

  /** Begins a message. */
  open(): void {
    this.#step([What.OPEN, 0, 0], How.NOT_AT_ALL);
  }

  close(): void {
    this.#step([What.CLOSE, 0, 0], How.NOT_AT_ALL);
  }

  /** Calls `write`. A page whose number is not there lacks its bytes: the first number must be given, and the only one. */
  optional(write: () => void): void {
    this.#flush();
    const begin = this.#steps.length;
    write();
    this.#flush();
    const skip = (this.#steps.length - begin) / STEP_WORDS - 1;
    this.#steps[begin + 1]! += skip * 0x1_0000;
  }

  endFamily(): void {
    this.#flush();
    this.#familyEnds.push(this.#steps.length / STEP_WORDS);
  }

  /** `words` and `given`: of the agents. @returns the template that native code has checked */
  make(words: number, given: number): Handle {
    const bytes = this.#bytes.subarray(0, this.#length);
    return addon().makeTemplate(Uint32Array.from(this.#steps), bytes, Uint32Array.from(this.#familyEnds), words, given);
  }

  #flush(): void {
    if (this.#length > this.#stepped) this.#step([What.NOTHING, 0, 0], How.NOT_AT_ALL);
  }

  #step([what, place, argument]: Source, how: How): void {
    this.#steps.push(this.#length - this.#stepped, what + how * 0x100, place, argument);
    this.#stepped = this.#length;
  }

  #makeRoom(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + bytes));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
