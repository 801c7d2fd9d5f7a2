/** Times of events as text. Pure. */
import { type TextBuffer, utf8 } from './text-buffer.js';

const MILLION = 1_000_000;
const TWO_32 = 2 ** 32;
/** Below 2^52 microseconds, in the year 2112, a quotient is never rounded up to the next second. */
const EXACT_HIGH = 2 ** 20;

/** Puts `2026-11-21 06:30:25.123456`, local time, or UTC with a Z at the end. */
export class TimeText {
  readonly #utc: boolean;
  readonly #end: Uint8Array;
  // Most events share their second with the last.
  #second = -1;
  #secondText = utf8('');

  constructor(utc: boolean) {
    this.#utc = utc;
    this.#end = utf8(utc ? 'Z' : '');
  }

  /** Microseconds since the Unix epoch, in two halves. */
  put(text: TextBuffer, high: number, low: number): void {
    const [second, us] = high < EXACT_HIGH ? inSeconds(high * TWO_32 + low) : inSecondsExactly(high, low);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = utf8(`${secondText(new Date(second * 1000), this.#utc)}.`);
    }
    text.put(this.#secondText);
    text.putDigits(us, 6);
    text.put(this.#end);
  }
}

function inSeconds(timestampUs: number): [second: number, us: number] {
  const second = Math.floor(timestampUs / MILLION);
  return [second, timestampUs - second * MILLION];
}

function inSecondsExactly(high: number, low: number): [second: number, us: number] {
  const timestampUs = (BigInt(high) << 32n) | BigInt(low);
  return [Number(timestampUs / 1_000_000n), Number(timestampUs % 1_000_000n)];
}

function secondText(date: Date, utc: boolean): string {
  if (Number.isNaN(date.getTime())) return 'out-of-range';
  if (utc)
    return date
      .toISOString()
      .replace(/\.\d+Z$/, '')
      .replace('T', ' ');
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
