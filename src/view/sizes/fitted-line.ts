/** Fits time = base + bytes x time per byte to medians of size classes. Pure; the live page uses this module, too. */
import type { ClassMedian } from './class-median.js';

/** Neither number is below 0, and not both are 0. */
export interface FittedLine {
  readonly baseUs: number;
  readonly usPerByte: number;
}

/** Relative standard errors: Infinity for a part that the fit set to 0. */
export interface FitErrors {
  readonly base: number;
  readonly perByte: number;
}

/**
 * Relative error that remains with any number of transfers: half the width of a bucket at scale 3. With it, no class outweighs
 * all others by its count.
 */
const LEAST_ERROR = 0.044;
/**
 * The logarithm of a factor by which a median may be off the line, besides twice its chance: a protocol for each size, and a
 * mixture of sizes within a class, bend real lines by less. If all classes are closer, the line is right to within this factor.
 */
const ON_LINE = Math.log(1.25);
/** In each round the weights follow the line of the round before, which brings it about ten times closer to the last one. */
const ROUNDS = 5;

/** The relative error counts, not that in microseconds: times of classes differ by factors, and so do their errors. */
function offBy(line: FittedLine, { meanBytes, medianUs }: ClassMedian): number {
  return Math.log(medianUs / timeOn(line, meanBytes));
}

export function timeOn({ baseUs, usPerByte }: FittedLine, bytes: number): number {
  return baseUs + usPerByte * bytes;
}

/** `slower`, `faster`: off the line. */
export function sideOf(line: FittedLine, median: ClassMedian): 'on' | 'slower' | 'faster' {
  const off = offBy(line, median);
  if (Math.abs(off) <= limitOf(median)) return 'on';
  return off > 0 ? 'slower' : 'faster';
}

function limitOf({ chance }: ClassMedian): number {
  return ON_LINE + 2 * chance;
}

/** Sum of the squared errors. That of a class off the line is as if it were at the limit, so that its distance has no influence. */
export function fitCost(line: FittedLine, medians: readonly ClassMedian[]): number {
  return medians.reduce((sum, median) => {
    const off = Math.min(Math.abs(offBy(line, median)), limitOf(median));
    return sum + weightOf(median) * off ** 2;
  }, 0);
}

function weightOf({ chance }: ClassMedian): number {
  return 1 / (LEAST_ERROR ** 2 + chance ** 2);
}

/** Chooses the best line through two medians, so that a far one cannot pull it away, and improves it by all that are on it. */
export function fitLine(medians: readonly ClassMedian[]): FittedLine {
  let line = bestThroughTwo(medians);
  const near = medians.filter((median) => sideOf(line, median) === 'on');
  if (near.length < 2) return line; // any line through one has the least squares
  for (let round = 0; round < ROUNDS; round++) line = leastSquares(sumsAt(line, near));
  return line;
}

function bestThroughTwo(medians: readonly ClassMedian[]): FittedLine {
  const candidates = medians.flatMap((low, i) => [
    { baseUs: low.medianUs, usPerByte: 0 },
    ...medians.slice(i + 1).map((high) => throughTwo(low, high)),
  ]);
  const costs = candidates.map((line) => fitCost(line, medians));
  return candidates[costs.indexOf(Math.min(...costs))]!;
}

function throughTwo(low: ClassMedian, high: ClassMedian): FittedLine {
  const usPerByte = Math.max(0, (high.medianUs - low.medianUs) / (high.meanBytes - low.meanBytes));
  const baseUs = low.medianUs - usPerByte * low.meanBytes;
  return baseUs >= 0 ? { baseUs, usPerByte } : { baseUs: 0, usPerByte: high.medianUs / high.meanBytes };
}

/** Sums of a linear least-squares fit, each class weighted by its relative error. */
interface Sums {
  readonly one: number;
  readonly bytes: number;
  readonly squaredBytes: number;
  readonly time: number;
  readonly bytesTime: number;
}

function sumsAt(line: FittedLine, medians: readonly ClassMedian[]): Sums {
  let [one, bytes, squaredBytes, time, bytesTime] = [0, 0, 0, 0, 0];
  for (const median of medians) {
    const { meanBytes, medianUs } = median;
    const weight = weightOf(median) / timeOn(line, meanBytes) ** 2;
    one += weight;
    bytes += weight * meanBytes;
    squaredBytes += weight * meanBytes ** 2;
    time += weight * medianUs;
    bytesTime += weight * meanBytes * medianUs;
  }
  return { one, bytes, squaredBytes, time, bytesTime };
}

/** Returns a line without negative parts. */
function leastSquares({ one, bytes, squaredBytes, time, bytesTime }: Sums): FittedLine {
  const determinant = one * squaredBytes - bytes ** 2;
  const baseUs = (squaredBytes * time - bytes * bytesTime) / determinant;
  const usPerByte = (one * bytesTime - bytes * time) / determinant;
  if (usPerByte > 0 && baseUs >= 0) return { baseUs, usPerByte };
  return usPerByte > 0 ? { baseUs: 0, usPerByte: bytesTime / squaredBytes } : { baseUs: time / one, usPerByte: 0 };
}

/** Errors by the weights of the classes, larger if the medians are further from the line than the weights say. */
export function fitErrors(line: FittedLine, medians: readonly ClassMedian[]): FitErrors {
  const { one, bytes, squaredBytes } = sumsAt(line, medians);
  const determinant = one * squaredBytes - bytes ** 2;
  const misfit = Math.max(1, fitCost(line, medians) / (medians.length - 2));
  const error = (sum: number, part: number): number => Math.sqrt((misfit * sum) / determinant) / part;
  return { base: error(squaredBytes, line.baseUs), perByte: error(one, line.usPerByte) };
}
