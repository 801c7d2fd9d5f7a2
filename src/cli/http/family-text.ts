/** The text of a family. It is made anew only if other points than before, or other bounds, are to be written. */
import type { Attributes } from '@opentelemetry/api';
import type { DataPoint } from '@opentelemetry/sdk-metrics';
import type { KeptLabels } from './kept-labels.js';
import { NumberedText } from './numbered-text.js';
import type { PageBytes } from './page-bytes.js';
import type { PointLines } from './point-lines.js';
import { escaped, type Family } from './spelling.js';

export class FamilyText<Value, Shape> {
  readonly #family: Family;
  readonly #lines: PointLines<Value, Shape>;
  readonly #labels: KeptLabels<string>;
  /** Attributes of each point; undefined if they may change. */
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
