/**
 * How far a figure of one run can be from that of all such runs, by what its transfers and its slices of time show. Pure.
 *
 * Transfers that follow each other share the state of the machine, so that a thousand of them tell less than a thousand. Slices of
 * time show how much: sums of neighbouring slices differ by more than chance where their transfers depend on each other.
 */

/** What one slice adds to a figure, less what it would add if all slices were alike. All of a run add up to 0. */
export type Deviations = readonly number[];

/** Fewer blocks tell nothing about their spread. */
const LEAST_BLOCKS = 4;
/** Where a run has fewer slices than that, its transfers count as a quarter of them. */
const UNKNOWN_FACTOR = 4;

/**
 * Returns the factor of a standard error that is exceeded by chance with this probability, to either side, at most. A bound of
 * the normal distribution: it errs by less than a fifth, to the safe side.
 */
export function sureFactor(probability: number): number {
  return Math.sqrt(2 * Math.log(1 / probability));
}

/** As `sure`, where the standard error is estimated from so few numbers: Student's distribution, by its first terms. */
export function estimatedFactor(sure: number, freedom: number): number {
  return sure + (sure ** 3 + sure) / (4 * freedom);
}

/**
 * Returns the half width of the interval of a sum over slices. `independent`: variance of the sum if no transfer depended on
 * another. Blocks of one, two, four... slices: noise may last longer than a slice.
 */
export function halfWidth(deviations: Deviations, independent: number, sure: number): number {
  let blocks = deviations;
  let widest = blocks.length < LEAST_BLOCKS ? (UNKNOWN_FACTOR - 1) * independent * sure ** 2 : 0;
  while (blocks.length >= LEAST_BLOCKS) {
    const freedom = blocks.length - 1;
    const variance = (blocks.reduce((sum, one) => sum + one ** 2, 0) * blocks.length) / freedom;
    const excess = Math.max(0, variance - independent);
    widest = Math.max(widest, excess * estimatedFactor(sure, freedom) ** 2);
    blocks = inPairs(blocks);
  }
  return Math.sqrt(independent * sure ** 2 + widest);
}

function inPairs(blocks: Deviations): Deviations {
  return Array.from({ length: Math.ceil(blocks.length / 2) }, (_, i) => blocks[2 * i]! + (blocks[2 * i + 1] ?? 0));
}
