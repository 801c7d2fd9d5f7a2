/** The text of a family. It is made anew only if other points than before, or other bounds, are to be written. */
import type { Attributes } from '@opentelemetry/api';
import type { DataPoint, Histogram } from '@opentelemetry/sdk-metrics';
import type { KeptLabels } from './kept-labels.js';
import { NumberedText } from './numbered-text.js';
import type { PageBytes } from './page-bytes.js';
import { escaped, type Family } from './spelling.js';

/** Lines of a point. A shape is what of a value decides on the text of its lines. */
interface PointLines<Value, Shape> {
  shapeOf(value: Value): Shape;
  fits(shape: Shape, value: Value): boolean;
  /** Returns the text of each line in front of its number. */
  heads(name: string, labels: string, shape: Shape): string[];
  write(value: Value, shape: Shape, text: NumberedText): void;
}

export class FamilyText<Value, Shape> {
  readonly #family: Family;
  readonly #lines: PointLines<Value, Shape>;
  readonly #labels: KeptLabels<string>;
  /** Of each point; undefined if they may change. */
  #attributes: readonly (Attributes | undefined)[] = [];
  #shapes: readonly Shape[] = [];
  #text: NumberedText | undefined;

  constructor(family: Family, lines: PointLines<Value, Shape>, labels: KeptLabels<string>) {
    this.#family = family;
    this.#lines = lines;
    this.#labels = labels;
  }

  write(points: readonly DataPoint<Value>[], page: PageBytes): void {
    const begin = page.length;
    const kept = this.#text;
    this.#text = undefined; // text of which not all numbers were replaced is of no use
    if (kept !== undefined && points.length === this.#attributes.length && this.#fill(kept, points, page)) {
      this.#text = kept;
      return;
    }
    page.rewind(begin);
    const made = this.#textOf(points);
    this.#fill(made, points, page, false);
    this.#text = made;
  }

  /** Returns false at the first point that the text is not for. */
  #fill(text: NumberedText, points: readonly DataPoint<Value>[], page: PageBytes, checks = true): boolean {
    text.begin(page);
    for (let i = 0; i < points.length; i++) {
      const { attributes, value } = points[i]!;
      const shape = this.#shapes[i]!;
      if (checks && (attributes !== this.#attributes[i] || !this.#lines.fits(shape, value))) return false;
      this.#lines.write(value, shape, text);
    }
    text.end();
    return true;
  }

  #textOf(points: readonly DataPoint<Value>[]): NumberedText {
    const shapes: Shape[] = [];
    const heads: string[] = [];
    for (const { attributes, value } of points) {
      const last = shapes.at(-1);
      const shape = last !== undefined && this.#lines.fits(last, value) ? last : this.#lines.shapeOf(value);
      shapes.push(shape);
      heads.push(...this.#lines.heads(this.#family.name, this.#labels.of(attributes), shape));
    }
    this.#attributes = points.map(({ attributes }) => (this.#labels.keeps(attributes) ? attributes : undefined));
    this.#shapes = shapes;
    return new NumberedText(commentsOf(this.#family), heads);
  }
}

export function commentsOf({ name, help, unit, type }: Family): string {
  const unitLine = unit === '' ? '' : `# UNIT ${name} ${escaped(unit)}\n`;
  return `# HELP ${name} ${escaped(help)}\n${unitLine}# TYPE ${name} ${type}\n`;
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
