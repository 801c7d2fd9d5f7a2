/** The seven agents of a review: three healthy ones, one that moves only 4 KiB, and three of which each is slow for another reason. */
import type { SizeClassTally } from '../../../src/ground/tally.js';
import { exponentialTally } from '../../support/exponential.js';

export interface Transfer {
  readonly bytes: number;
  readonly us: number;
  readonly postUs?: number;
}

/** Scale of the histograms of size classes in native/tally. */
const SCALE = 3;
const LARGEST_BOUND = 2 ** 30;

/** Returns the classes of these transfers as the native part counts them. */
export function classesOf(transfers: readonly Transfer[]): SizeClassTally[] {
  const bounds = [...new Set(transfers.map(({ bytes }) => boundOf(bytes)))].sort((a, b) => a - b);
  return bounds.map((upToBytes) => {
    const alike = transfers.filter(({ bytes }) => boundOf(bytes) === upToBytes);
    return {
      upToBytes,
      count: alike.length,
      bytes: alike.reduce((sum, { bytes }) => sum + BigInt(bytes), 0n),
      duration: timeTally(alike.map(({ us }) => us)),
      post: timeTally(alike.flatMap(({ postUs }) => postUs ?? [])),
    };
  });
}

function boundOf(bytes: number): number {
  const bound = Math.max(1024, 2 ** Math.ceil(Math.log2(bytes)));
  return bound > LARGEST_BOUND ? Infinity : bound;
}

function timeTally(values: readonly number[]) {
  return {
    sum: values.reduce((sum, value) => sum + BigInt(value), 0n),
    exponential: exponentialTally(values, SCALE),
  };
}

/** Numbers from 0 to 1, the same for each seed: the generator of Park and Miller. */
export function randomOf(seed: number): () => number {
  let state = seed % 2147483646 || 1;
  return () => (state = (state * 48271) % 2147483647) / 2147483647;
}

export interface Behaviour {
  readonly sizes: readonly number[];
  /** Besides posting. */
  readonly baseUs: number;
  readonly postUs: (random: () => number) => number;
  readonly bytesPerSecond: (bytes: number) => number;
}

const SIZES = [4 << 10, 64 << 10, 256 << 10, 256 << 10, 1 << 20, 8 << 20];
const HEALTHY: Behaviour = { sizes: SIZES, baseUs: 15, postUs: () => 3, bytesPerSecond: () => 20e9 };

export const SEVEN_AGENTS = {
  'normal-0': HEALTHY,
  'normal-1': HEALTHY,
  'normal-2': HEALTHY,
  'big-slow': { ...HEALTHY, bytesPerSecond: (bytes) => (bytes >= 1 << 20 ? 1e9 : 20e9) },
  'slow-link': { ...HEALTHY, bytesPerSecond: () => 0.5e9 },
  'slow-post': { ...HEALTHY, postUs: (random) => 400 + 200 * random() },
  tiny: { ...HEALTHY, sizes: [4 << 10] },
} satisfies Record<string, Behaviour>;

/** Times are up to 15 % off to each side, one in a hundred takes four times as long, and all are whole microseconds. */
export function transfersOf(behaviour: Behaviour, count: number, seed: number): Transfer[] {
  const random = randomOf(seed);
  return Array.from({ length: count }, () => {
    const bytes = behaviour.sizes[Math.floor(random() * behaviour.sizes.length)]!;
    const post = behaviour.postUs(random);
    const exact = behaviour.baseUs + post + (bytes / behaviour.bytesPerSecond(bytes)) * 1e6;
    const factor = (0.85 + 0.3 * random()) * (random() < 0.01 ? 4 : 1);
    return { bytes, us: Math.floor(exact * factor), postUs: Math.floor(post) };
  });
}
