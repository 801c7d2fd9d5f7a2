/** The element of one row of the table of agents. */
import { spanText } from '../../../ground/figures/clock.js';
import { bytesRateText, plural, timeText } from '../../../ground/figures/figure.js';
import { errorsOf, labelOfAgent } from '../../../view/model/agent-model.js';
import { STATES } from '../../../view/verdict/shapes.js';
import { element, figurePlace, icon, setAttribute, setFigure, setIcon, setShare, setText } from '../common/dom.js';
import type { Spark } from '../spark-paths.js';
import { setSpark, sparkElement } from '../sparkline.js';
import { figureOf, TABLE_COLUMNS, type TableColumn } from './columns.js';
import { type TableRow, sharedLength } from './rows.js';

/** Context of a row: shown beside its own figures. */
export interface RowPlace {
  /** Names of the rows above and below. */
  readonly neighbours: readonly (string | undefined)[];
  readonly address: string;
  readonly isOpen: boolean;
  readonly isCurrent: boolean;
  /** Place among all rows, from 1, as assistive technology announces it. */
  readonly index: number;
  readonly spark: Omit<Spark, 'values'>;
  readonly nowMs: number;
}

export class RowElement {
  readonly node = element('tr');
  readonly #icon = icon('dot');
  readonly #link: HTMLAnchorElement;
  readonly #shared = element('span');
  readonly #own = element('b');
  readonly #underName = element('span', { class: 'phone-only under' });
  readonly #state = element('td');
  readonly #bar = element('i');
  readonly #fill = element('span');
  readonly #cells = TABLE_COLUMNS.map((column) => this.#cell(column));
  readonly #spark = sparkElement();
  readonly #sum = element('span', { class: 'total' });
  readonly #p99 = element('span', { class: 'under' });

  constructor() {
    this.#link = element('a', {}, element('bdi', {}, this.#shared, this.#own));
    const name = element('th', { scope: 'row', class: 'name' }, this.#icon, this.#link, this.#underName);
    this.node.append(
      name,
      this.#state,
      ...this.#cells,
      element('td', { class: 'spark-cell' }, element('div', { class: 'spark' }, this.#spark)),
      element('td', { class: 'phone-only' }, this.#sum, this.#p99),
    );
  }

  show(row: TableRow, place: RowPlace): void {
    const { agent, state } = row;
    const { shape, tone, word } = STATES[state];
    setAttribute(this.node, 'aria-rowindex', String(place.index + 1));
    setAttribute(this.node, 'aria-selected', String(place.isOpen));
    this.node.classList.toggle('current', place.isCurrent);
    this.node.classList.toggle('gone', state === 'ended');
    setAttribute(this.#icon.parentElement!, 'data-tone', tone);
    setIcon(this.#icon, shape);
    const label = labelOfAgent(agent);
    const shared = sharedLength(label, place.neighbours);
    setText(this.#shared, label.slice(0, shared));
    setText(this.#own, label.slice(shared));
    setAttribute(this.#link, 'href', place.address);
    setAttribute(this.#link, 'title', agent.name);
    // The two parts of the name would be read as two words.
    setAttribute(this.#link, 'aria-label', label);
    const { endedMs } = agent;
    const text = state === 'ended' && endedMs !== undefined ? `ended ${spanText(place.nowMs - endedMs)} ago` : word;
    setText(this.#state, text);
    const warning = state === 'incomplete' || state === 'slow' ? 'warn' : state === 'failing' ? 'bad' : '';
    setAttribute(this.#state, 'class', `state wide-only ${warning}`);
    TABLE_COLUMNS.forEach((column, i) => {
      const cell = this.#cells[i]!;
      const figure = figureOf(column, row);
      if (column.unit === 'share') setText(this.#fill, figure.value);
      else if (column.unit === 'text') setText(cell, figure.value);
      else setFigure(cell.firstElementChild!, figure);
      const cellTone = column.page.tone?.[state];
      cell.classList.toggle('warn', cellTone === 'warn');
      cell.classList.toggle('bad', cellTone === 'bad');
    });
    this.#showFill(row);
    setSpark(this.#spark, { ...place.spark, values: row.moved });
    this.#showPhone(row, text);
  }

  #cell({ id, unit, page }: TableColumn): HTMLElement {
    const attributes = { class: classOf(page.from), 'data-key': id, 'data-unit': unit };
    if (unit === 'share') return element('td', attributes, element('span', { class: 'fill' }, this.#bar, this.#fill));
    return element('td', attributes, ...(unit === 'text' ? [] : [figurePlace()]));
  }

  #showFill({ agent: { fill, foundFull }, state }: TableRow): void {
    setShare(this.#bar, fill);
    this.#bar.parentElement!.classList.toggle('warn', state === 'incomplete');
    setAttribute(this.#fill, 'title', foundFull === 0 ? 'never found full' : `found full ${plural(foundFull, 'time')}`);
  }

  #showPhone(row: TableRow, state: string): void {
    const errors = errorsOf(row.agent);
    const received = `rx ${bytesRateText(row.rxBytesPerSecond)}`;
    setText(this.#underName, `${state} · ${errors > 0 ? plural(errors, 'error') : received}`);
    const { txBytesPerSecond: tx, rxBytesPerSecond: rx } = row;
    setText(this.#sum, bytesRateText(tx === undefined || rx === undefined ? undefined : tx + rx));
    setText(this.#p99, `p99 ${timeText(row.transferTimeUs?.p99)}`);
  }
}

/** Returns the class of a column that is shown from a width on. */
export function classOf(from: number | undefined): string {
  return from === undefined ? 'wide-only' : `wide-only from-${from}`;
}
