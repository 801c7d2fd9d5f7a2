/** A program that moves transfers of four sizes, counted as the addon counts them. */
import type { SizeClassTally } from '../../src/ground/tally.js';
import { exponentialTally } from './exponential.js';

const SIZES = [2 ** 14, 2 ** 17, 2 ** 20, 2 ** 22];
/** Time between two samples. */
export const STEP_MS = 4000;
const NONE = { classes: [], endedInPost: 0, flushSquares: 0n };

export interface Speed {
  readonly bytesPerUs?: number;
  readonly baseUs?: number;
  readonly postUs?: number;
  /** How many times as long as the others one of eight takes. */
  readonly tail?: number;
}

/** Counts eight transfers of each size in each step. */
export class SizedProgram {
  readonly #times = new Map<number, number[]>();
  readonly #posts: number[] = [];

  step({ bytesPerUs = 12_000, baseUs = 14, postUs = 4, tail = 1 }: Speed = {}): void {
    for (const bytes of SIZES) {
      const times = this.#times.get(bytes) ?? [];
      for (let i = 0; i < 8; i++)
        times.push(Math.round((baseUs + postUs + bytes / bytesPerUs) * (i === 7 ? tail : 1 + 0.01 * i)));
      this.#times.set(bytes, times);
    }
    for (let i = 0; i < 8; i++) this.#posts.push(postUs);
  }

  get timeBySize() {
    const classes = [...this.#times].map(([bytes, times]): SizeClassTally => {
      const duration = { sum: 0n, exponential: exponentialTally(times) };
      const post = { sum: 0n, exponential: exponentialTally(this.#posts) };
      return { upToBytes: bytes, count: times.length, bytes: BigInt(bytes * times.length), duration, post };
    });
    return { transmit: NONE, receive: { classes, endedInPost: 0, flushSquares: BigInt(classes[0]?.count ?? 0) } };
  }
}
