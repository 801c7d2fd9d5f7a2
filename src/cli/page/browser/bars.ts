/** Tables with bars, for distributions and errors: screen readers get the numbers. Rows of a distribution are powers of two. */
import { atScale, type ExponentialTally } from '../../../exponential.js';
import { count } from '../../figures/formats.js';
import { element, mark, setNumber, setRows, setText } from './dom.js';

interface BarRow {
  readonly label: string;
  readonly values: readonly number[];
}

type Counts = ExponentialTally | undefined;

/** Returns a row per power of two, from the lowest to the highest one with values, and one for values of 0. */
export function bucketRows(columns: readonly Counts[], format: (bound: number) => string): BarRow[] {
  const octaves = columns.map((counts) => counts && atScale(counts, 0));
  const filled = octaves.filter((one) => one !== undefined && one.counts.length > 0) as ExponentialTally[];
  const lowest = Math.min(...filled.map(({ offset }) => offset));
  const end = Math.max(...filled.map(({ offset, counts }) => offset + counts.length));
  const zeros = octaves.map((one) => one?.zeroCount ?? 0);
  const rows = zeros.some((count) => count > 0) ? [{ label: format(0), values: zeros }] : [];
  for (let index = lowest; index < end; index++) {
    const values = octaves.map((one) => one?.counts[index - one.offset] ?? 0);
    rows.push({ label: `≤ ${format(2 ** (index + 1))}`, values });
  }
  return rows;
}

/** Makes a table. `columns`: heading and colour of each. Returns a function that shows rows. */
export function barTable(
  place: HTMLElement,
  caption: string,
  first: string,
  columns: readonly (readonly [heading: string, colour: string])[],
): (rows: readonly BarRow[]) => void {
  const body = element('tbody');
  const headings = [first, ...columns.map(([heading]) => heading)];
  const table = element(
    'table',
    { class: 'bars' },
    element('caption', { class: 'unseen' }, caption),
    element('thead', {}, element('tr', {}, ...headings.map((text) => element('th', { scope: 'col' }, text)))),
    body,
  );
  const empty = element('p', { class: 'soft' }, 'None.');
  place.append(empty, table);
  const cell = ([, colour]: readonly [string, string]): HTMLElement => {
    const track = element('span', { class: 'track' }, mark('bar', colour));
    return element('td', {}, element('div', { class: 'cell' }, element('data'), track));
  };
  const row = (): HTMLElement => element('tr', {}, element('th', { scope: 'row' }), ...columns.map(cell));
  return (rows) => {
    table.hidden = rows.length === 0;
    empty.hidden = rows.length > 0;
    const most = Math.max(1, ...rows.flatMap(({ values }) => values));
    setRows(body, rows, row, ({ children }, { label, values }) => {
      setText(children[0]!, label);
      values.forEach((value, i) => {
        const bar = children[i + 1]!.querySelector<HTMLElement>('.bar')!;
        setNumber(children[i + 1]!.querySelector('data')!, value, count(value));
        bar.style.setProperty('--share', String(value / most));
        bar.classList.toggle('some', value > 0);
      });
    });
  };
}
