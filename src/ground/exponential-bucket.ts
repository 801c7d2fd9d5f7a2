/** Exponential bucket of a number, as native code finds it. Pure. Apart from exponential.ts, because few programs need it. */

/** 2^(n/16) as native code has it: the nearest doubles. JavaScript's ** gives a neighbour of two of them. */
// prettier-ignore
const ROOTS = [
  1, 1.0442737824274138, 1.0905077326652577, 1.1387886347566916, 1.189207115002721, 1.241857812073484,
  1.2968395546510096, 1.3542555469368927, 1.4142135623730951, 1.4768261459394993, 1.5422108254079407,
  1.6104903319492543, 1.681792830507429, 1.7562521603732995, 1.8340080864093424, 1.9152065613971474,
];
const TWO_32 = 2 ** 32;
/** Bounds of the buckets from 2^63 on, as two halves. No whole number is above the last bound. */
const BOUNDS = ROOTS.map((root) => root * 2 ** 63);
const BOUNDS_HIGH = Uint32Array.of(...BOUNDS.map((bound) => Math.floor(bound / TWO_32)), TWO_32 - 1);
const BOUNDS_LOW = Uint32Array.of(...BOUNDS.map((bound) => bound % TWO_32), TWO_32 - 1);
/** Number of bounds below each of 256 equal parts of the numbers from 2^63 on. Each bucket is wider than such a part. */
const BOUNDS_BELOW = Uint8Array.from({ length: 256 }, (_, part) => {
  return BOUNDS.filter((bound) => bound < (256 + part) * 2 ** 55).length;
});

/** Returns the bucket of a whole number above 0, given as two halves, at TALLY_SCALE: the one that native code counts in. */
export function bucketOf(high: number, low: number): number {
  const zeros = high === 0 ? 32 + Math.clz32(low) : Math.clz32(high);
  if (zeros >= 32) return bucketOfShifted(zeros, (low << zeros) >>> 0, 0);
  // In two steps, because JavaScript shifts by 0 in place of 32.
  return bucketOfShifted(zeros, ((high << zeros) | ((low >>> 1) >>> (31 - zeros))) >>> 0, (low << zeros) >>> 0);
}

/** `high` and `low`: the number without its leading zeros, thus at least 2^63. In each power of two the bounds are alike. */
function bucketOfShifted(zeros: number, high: number, low: number): number {
  const below = BOUNDS_BELOW[(high >>> 23) & 255]!;
  const bound = BOUNDS_HIGH[below]!;
  const isAbove = high > bound || (high === bound && low > BOUNDS_LOW[below]!);
  return (63 - zeros) * ROOTS.length + below + (isAbove ? 0 : -1);
}
