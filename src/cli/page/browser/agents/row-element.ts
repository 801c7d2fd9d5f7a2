/** The element of one row of the table of agents. */
import { bytesRateFigure, counted, figureText, timeFigure } from '../../../figures/figure.js';
import { percent } from '../../../figures/formats.js';
import { STATES } from '../../../verdict/shapes.js';
import { length } from '../clock.js';
import { element, figurePlace, icon, setAttribute, setFigure, setIcon, setShare, setText } from '../dom.js';
import type { Spark } from '../spark-paths.js';
import { setSpark, sparkline } from '../sparkline.js';
import { COLUMNS } from './columns.js';
import { errorsOf, type Row, sharedLength } from './rows.js';

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
  readonly #cells = COLUMNS.map(({ from }) => element('td', { class: classOf(from) }, figurePlace()));
  readonly #bar = element('i');
  readonly #fill = element('span');
  readonly #gpu = element('td', { class: 'from-2100' });
  readonly #pid = element('td', { class: 'from-2100' });
  readonly #spark = sparkline();
  readonly #sum = element('span', { class: 'total' });
  readonly #p99 = element('span', { class: 'under' });

  constructor() {
    this.#link = element('a', {}, element('bdi', {}, this.#shared, this.#own));
    const name = element('th', { scope: 'row', class: 'name' }, this.#icon, this.#link, this.#underName);
    const fill = element('td', { class: 'from-1121' }, element('span', { class: 'fill' }, this.#bar, this.#fill));
    this.node.append(
      name,
      this.#state,
      ...this.#cells,
      fill,
      this.#gpu,
      this.#pid,
      element('td', { class: 'spark-cell' }, element('div', { class: 'spark' }, this.#spark)),
      element('td', { class: 'phone-only' }, this.#sum, this.#p99),
    );
  }

  show(row: Row, place: RowPlace): void {
    const { agent, state } = row;
    const { shape, tone, word } = STATES[state];
    setAttribute(this.node, 'aria-rowindex', String(place.index + 1));
    setAttribute(this.node, 'aria-selected', String(place.isOpen));
    this.node.classList.toggle('current', place.isCurrent);
    this.node.classList.toggle('gone', state === 'ended');
    setAttribute(this.#icon.parentElement!, 'data-tone', tone);
    setIcon(this.#icon, shape);
    const shared = sharedLength(agent.name, place.neighbours);
    setText(this.#shared, agent.name.slice(0, shared));
    setText(this.#own, agent.name.slice(shared));
    setAttribute(this.#link, 'href', place.address);
    setAttribute(this.#link, 'title', agent.name);
    // The two parts of the name would be read as two words.
    setAttribute(this.#link, 'aria-label', agent.name);
    const { endedMs } = agent;
    const text = state === 'ended' && endedMs !== undefined ? `ended ${length(place.nowMs - endedMs)} ago` : word;
    setText(this.#state, text);
    const warning = state === 'incomplete' ? 'warn' : state === 'failing' ? 'bad' : '';
    setAttribute(this.#state, 'class', `state wide-only ${warning}`);
    COLUMNS.forEach(({ value, figure, tone: toneOf, key }, i) => {
      const cell = this.#cells[i]!;
      const found = value(row);
      setFigure(cell.firstElementChild!, figure(found, row));
      const cellTone = toneOf?.(row);
      cell.classList.toggle('warn', cellTone === 'warn');
      cell.classList.toggle('bad', cellTone === 'bad');
      setAttribute(cell, 'data-key', key);
    });
    this.#showFill(row);
    setText(this.#gpu, agent.gpus ?? '–');
    setText(this.#pid, agent.pid === undefined ? '–' : String(agent.pid));
    setSpark(this.#spark, { ...place.spark, values: row.moved });
    this.#showPhone(row, text);
  }

  #showFill({ agent: { fill, foundFull }, state }: Row): void {
    setShare(this.#bar, fill);
    this.#bar.parentElement!.classList.toggle('warn', state === 'incomplete');
    setText(this.#fill, percent(fill));
    setAttribute(
      this.#fill,
      'title',
      foundFull === 0 ? 'never found full' : `found full ${counted(foundFull, 'time')}`,
    );
  }

  #showPhone(row: Row, state: string): void {
    const errors = errorsOf(row.agent);
    const rx = `rx ${figureText(bytesRateFigure(row.rx))}`;
    setText(this.#underName, `${state} · ${errors > 0 ? `${errors.toLocaleString('en-US')} errors` : rx}`);
    const moved = row.tx === undefined || row.rx === undefined ? undefined : row.tx + row.rx;
    setText(this.#sum, figureText(bytesRateFigure(moved)));
    setText(this.#p99, `p99 ${figureText(timeFigure(row.agent.recentTransferTimeUs?.p99))}`);
  }
}

/** Returns the class of a column that is shown from a width on. */
export function classOf(from: number | undefined): string {
  return from === undefined ? 'wide-only' : `wide-only from-${from}`;
}
