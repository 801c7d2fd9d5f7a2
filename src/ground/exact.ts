/** Arithmetic on sums: bigints stay exact, and a number on either side makes the result a number. Pure. */

/** Integers stay bigint until deltas have been taken: a double would lose the low bits beyond 2^53. */
export type Exact = bigint | number;

/** Returns `current - previous`, or `current` if there is no previous value or the value fell. */
export function increase(current: Exact, previous: Exact | undefined): Exact {
  if (previous === undefined || previous > current) return current;
  return typeof current === 'bigint' && typeof previous === 'bigint'
    ? current - previous
    : Number(current) - Number(previous);
}

export function sum(a: Exact, b: Exact | undefined): Exact {
  if (b === undefined) return a;
  return typeof a === 'bigint' && typeof b === 'bigint' ? a + b : Number(a) + Number(b);
}
