/** Tables with bars, for distributions and errors: screen readers get the numbers. */
import { count } from '../../figures/formats.js';
import { element, mark, setNumber, setRows, setText } from './dom.js';

interface BarRow {
  readonly label: string;
  readonly values: readonly number[];
}

/** Returns rows from the first to the last bucket with a count. */
export function bucketRows(bounds: readonly number[], columns: readonly number[][], format: (n: number) => string) {
  const label = (i: number): string => (i < bounds.length ? `≤ ${format(bounds[i]!)}` : `> ${format(bounds.at(-1)!)}`);
  const rows = Array.from({ length: bounds.length + 1 }, (_, i): BarRow => {
    return { label: label(i), values: columns.map((counts) => counts[i] ?? 0) };
  });
  const isFilled = ({ values }: BarRow): boolean => values.some((value) => value > 0);
  return rows.slice(Math.max(0, rows.findIndex(isFilled)), rows.findLastIndex(isFilled) + 1);
}

export class BarTable {
  readonly #body: HTMLElement;
  readonly #empty: HTMLElement;
  readonly #table: HTMLTableElement;
  readonly #colours: readonly string[];

  /** `columns`: heading and colour of each. */
  constructor(place: HTMLElement, caption: string, first: string, columns: readonly (readonly [string, string])[]) {
    this.#colours = columns.map(([, colour]) => colour);
    this.#body = element('tbody');
    const headings = [first, ...columns.map(([heading]) => heading)];
    this.#table = element(
      'table',
      { class: 'bars' },
      element('caption', { class: 'unseen' }, caption),
      element('thead', {}, element('tr', {}, ...headings.map((text) => element('th', { scope: 'col' }, text)))),
      this.#body,
    );
    this.#empty = element('p', { class: 'soft' }, 'None.');
    place.append(this.#empty, this.#table);
  }

  show(rows: readonly BarRow[]): void {
    this.#table.hidden = rows.length === 0;
    this.#empty.hidden = rows.length > 0;
    const most = Math.max(1, ...rows.flatMap(({ values }) => values));
    const make = (): HTMLElement =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }),
        ...this.#colours.map((colour) => {
          const bar = mark('bar', colour);
          const track = element('span', { class: 'track' }, bar);
          return element('td', {}, element('div', { class: 'cell' }, element('data'), track));
        }),
      );
    setRows(this.#body, rows, make, (row, { label, values }) => {
      setText(row.children[0]!, label);
      values.forEach((value, i) => {
        const cell = row.children[i + 1]!;
        const number = cell.querySelector('data')!;
        const bar = cell.querySelector<HTMLElement>('.bar')!;
        setNumber(number, value, count(value));
        bar.style.setProperty('--share', String(value / most));
        bar.classList.toggle('some', value > 0);
      });
    });
  }
}
