/** Lines of the text that a point has: one for a number, several for a histogram. */
import type { Histogram } from '@opentelemetry/sdk-metrics';
import type { NumberedText } from './numbered-text.js';

/** Lines of a point. A shape is what of a value decides on the text of its lines. */
export interface PointLines<Value, Shape> {
  shapeOf(value: Value): Shape;
  fits(shape: Shape, value: Value): boolean;
  /** Returns the text of each line in front of its number. */
  heads(name: string, labels: string, shape: Shape): string[];
  write(value: Value, shape: Shape, text: NumberedText): void;
}

export const NUMBER_LINES: PointLines<number, undefined> = {
  shapeOf: () => undefined,
  fits: () => true,
  heads: (name, labels) => [lineHead(name, labels)],
  write: (value, _, text) => text.number(value),
};

interface HistogramShape {
  readonly hasCount: boolean;
  readonly hasSum: boolean;
  readonly boundaries: readonly number[];
  /** The list that `boundaries` is a copy of, if it cannot change. */
  readonly constant: readonly number[] | undefined;
  readonly counts: number;
  /** Lines of buckets. */
  readonly buckets: number;
}

export const HISTOGRAM_LINES: PointLines<Histogram, HistogramShape> = {
  shapeOf(value) {
    const { boundaries, counts } = value.buckets;
    // Beyond an infinite bound there are no values.
    const buckets = boundaries.includes(Infinity) ? Math.min(counts.length, boundaries.length) : counts.length;
    return {
      hasCount: hasCount(value),
      hasSum: hasSum(value),
      boundaries: [...boundaries],
      constant: Object.isFrozen(boundaries) ? boundaries : undefined,
      counts: counts.length,
      buckets,
    };
  },
  fits(shape, value) {
    const { boundaries, counts } = value.buckets;
    if (shape.hasCount !== hasCount(value) || shape.hasSum !== hasSum(value)) return false;
    if (shape.counts !== counts.length) return false;
    if (boundaries === shape.constant) return true;
    if (shape.boundaries.length !== boundaries.length) return false;
    for (let i = 0; i < boundaries.length; i++) if (boundaries[i] !== shape.boundaries[i]) return false;
    return true;
  },
  heads(name, labels, { hasCount, hasSum, boundaries, buckets }) {
    const heads: string[] = [];
    if (hasCount) heads.push(lineHead(`${name}_count`, labels));
    if (hasSum) heads.push(lineHead(`${name}_sum`, labels));
    const others = labels === '' ? '' : `${labels},`;
    for (let i = 0; i < buckets; i++) {
      const bound = boundaries[i] ?? Infinity;
      heads.push(lineHead(`${name}_bucket`, `${others}le="${bound === Infinity ? '+Inf' : bound}"`));
    }
    return heads;
  },
  write(value, { hasCount, hasSum, buckets }, text) {
    if (hasCount) text.number(value.count);
    if (hasSum) text.number(value.sum!);
    let cumulative = 0;
    for (let i = 0; i < buckets; i++) text.number((cumulative += value.buckets.counts[i]!));
  },
};

// OpenTelemetry's serialiser leaves out null, too.
const hasCount = ({ count }: Histogram): boolean => (count as number | null | undefined) != null;
const hasSum = ({ sum }: Histogram): boolean => sum != null;

function lineHead(name: string, labels: string): string {
  return labels === '' ? `${name} ` : `${name}{${labels}} `;
}
