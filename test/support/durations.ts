/** Durations drawn from five distributions, the same in every run, and their exact quantiles. */

/** Draws of whole microseconds, from two uniform numbers above 0 and up to 1. */
export const DISTRIBUTIONS: Readonly<Record<string, (u: number, v: number) => number>> = {
  constant: () => 1,
  uniform: (u) => 100 + u * 900,
  bimodal: (u, v) => (u < 0.7 ? 3 + 2 * v : 4_000 + 100 * v),
  lognormal: (u, v) => Math.exp(5 + Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v)),
  'heavy-tail': (u) => 20 / u ** 1.5,
};

export function durationsOf(distribution: string, count: number): number[] {
  const draw = DISTRIBUTIONS[distribution]!;
  const random = pseudoRandom();
  return Array.from({ length: count }, () => Math.max(1, Math.round(draw(random.next().value, random.next().value))));
}

/** The value with the nearest rank. */
export function exactQuantile(values: readonly number[], quantile: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(quantile * values.length) - 1]!;
}

function* pseudoRandom(): Generator<number, never> {
  for (let seed = 1; ;) yield (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
}
