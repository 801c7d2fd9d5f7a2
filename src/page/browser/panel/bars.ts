/** A table of counts with bars beside them: screen readers get the numbers. */
import { numberText } from '../../../ground/figures/figure.js';
import { element, setNumber, setShare, setRows, setText } from '../common/dom.js';
import type { BarRow } from './bucket-rows.js';

export class BarTable {
  readonly #body = element('tbody');
  readonly #table: HTMLElement;
  readonly #none = element('p', { class: 'soft' });
  readonly node: HTMLElement;

  /** `caption`: what is counted, for screen readers. `first`: heading of the rows. */
  constructor(id: string, caption: string, first: string, colour: string, none: string) {
    const head = [first, 'transfers'].map((text) => element('th', { scope: 'col', class: 'unseen' }, text));
    this.#table = element(
      'table',
      { class: 'bars', id },
      element('caption', { class: 'unseen' }, caption),
      element('thead', {}, element('tr', {}, ...head)),
      this.#body,
    );
    this.#table.style.setProperty('--colour', `var(--${colour})`);
    this.#none.textContent = none;
    this.node = element('div', {}, this.#none, this.#table);
  }

  show(rows: readonly BarRow[]): void {
    this.#table.hidden = rows.length === 0;
    this.#none.hidden = rows.length > 0;
    const most = Math.max(1, ...rows.map(({ count }) => count));
    setRows(this.#body, rows, barRow, ({ children }, { label, count }) => {
      setText(children[0]!, label);
      const [bar, number] = children[1]!.firstElementChild!.children as unknown as [HTMLElement, HTMLDataElement];
      setShare(bar, count / most);
      bar.classList.toggle('some', count > 0);
      setNumber(number, count, numberText(count));
    });
  }
}

function barRow(): HTMLElement {
  const cell = element('div', { class: 'cell' }, element('i', { 'aria-hidden': 'true' }), element('data'));
  return element('tr', {}, element('th', { scope: 'row' }), element('td', {}, cell));
}
