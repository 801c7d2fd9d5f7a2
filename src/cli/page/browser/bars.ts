/** Tables with bars, for distributions and errors: screen readers get the numbers. */
import { count } from '../../figures/formats.js';
import type { BarRow } from './bucket-rows.js';
import { element, mark, setNumber, setRows, setText } from './dom.js';

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
