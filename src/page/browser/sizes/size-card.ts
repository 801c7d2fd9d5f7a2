/** The card of time by size: agents by size classes, with base and rate of each. */
import { spanText } from '../../../ground/figures/clock.js';
import { type Figure, plural } from '../../../ground/figures/figure.js';
import type { SizesAnswer } from '../../../view/answers/sizes-answer.js';
import { LINE_HEADINGS, LINE_HELP, sizeClassText } from '../../../view/sizes/size-words.js';
import { byId, element, figurePlace, setAttribute, setFigure, setRows, setText } from '../common/dom.js';
import { Segment } from '../common/segment.js';
import { hashOf, type SizeDirection, type CellMeasure, USUAL_SORT, type ViewState } from '../view.js';
import {
  boundsIn,
  type FigureOrWords,
  movedDirections,
  orderedSizes,
  type SizeCell,
  type SizeRow,
  sizeRowsOf,
  upToText,
  usualMeasure,
} from './size-table.js';

export interface SizeCardInput {
  readonly answer: SizesAnswer;
  readonly view: ViewState;
  /** Agents that match the filter, in the order of the page. */
  readonly order: readonly number[];
  /** Set if there is no newer answer, milliseconds. */
  readonly ageMs?: number;
}

/** More rows are shown if the reader asks for them. */
const MOST_ROWS = 12;

const MEASURES: Readonly<Record<CellMeasure, readonly [choice: string, meaning: string]>> = {
  peers: ['against peers', 'median of each size class, as a multiple of the fastest quarter of the other agents'],
  earlier: ['against earlier', "median of each size class, as a multiple of the agent's own before"],
  time: ['time', 'median of each size class'],
  rate: ['rate', 'bytes per second of time in a transfer, in each size class'],
};

const HELP = `A cell is empty if the agent moved nothing of that size, pale with few transfers. ${LINE_HELP}`;

export class SizeCard {
  readonly #card = byId('time-by-size');
  readonly #rows = byId('size-rows');
  readonly #directions: Segment<SizeDirection>;
  readonly #measures: Segment<CellMeasure>;
  #held: readonly number[] = [];
  #isShowingAll = false;
  #input: SizeCardInput | undefined;

  constructor(onView: (change: Partial<ViewState>) => void) {
    this.#directions = new Segment('Direction', { tx: 'tx', rx: 'rx' }, (direction) => onView({ direction }));
    const choices = Object.fromEntries(Object.entries(MEASURES).map(([key, [choice]]) => [key, choice]));
    this.#measures = new Segment('Cells', choices as Record<CellMeasure, string>, (measure) => onView({ measure }));
    byId('size-head').append(this.#directions.node, this.#measures.node);
    setText(byId('size-help'), HELP);
    byId('size-all').addEventListener('click', () => {
      this.#isShowingAll = !this.#isShowingAll;
      if (this.#input !== undefined) this.show(this.#input);
    });
  }

  get isHidden(): boolean {
    return this.#card.hidden !== false;
  }

  hide(): void {
    this.#card.hidden = true;
  }

  show(input: SizeCardInput): void {
    this.#input = input;
    const { answer, view, order } = input;
    const directions = movedDirections(answer.agents);
    const direction = directions.find((one) => one === view.direction) ?? directions[0];
    this.#card.hidden = direction === undefined;
    if (direction === undefined) return;
    const measure = view.measure ?? usualMeasure(answer.agents, direction);
    this.#directions.show(direction, directions.length > 1);
    this.#measures.show(measure);
    setText(byId('size-what'), `${MEASURES[measure][1]}, ${windowText(input)}`);
    const all = sizeRowsOf(answer.agents, direction, measure);
    const held = this.#rows.matches(':hover, :focus-within') ? this.#held : [];
    const matching = orderedSizes(all, order, view.sort === USUAL_SORT, held);
    this.#held = matching.map(({ id }) => id);
    const rows = this.#isShowingAll ? matching : matching.slice(0, MOST_ROWS);
    this.#showTable(rows, boundsIn(all), view);
    this.#showMore(matching.length, answer.unlisted);
    byId('size-scroller').hidden = rows.length === 0;
    byId('size-quiet').hidden = rows.length > 0;
    setText(byId('size-quiet'), all.length === 0 ? `No ${direction} transfers in this time.` : 'No agent matches.');
  }

  #showTable(rows: readonly SizeRow[], bounds: readonly number[], view: ViewState): void {
    const { base, posting, rate } = LINE_HEADINGS;
    const headings = ['Agent', ...bounds.map(sizeClassText), base, posting, rate];
    setRows(byId('size-columns'), headings, () => element('th', { scope: 'col' }), setText);
    bounds.forEach((bound, i) => {
      const heading = byId('size-columns').children[i + 1]!;
      setAttribute(heading, 'class', 'class');
      setAttribute(heading, 'title', upToText(bound));
    });
    for (const heading of [...byId('size-columns').children].slice(bounds.length + 1)) heading.removeAttribute('class');
    setRows(this.#rows, rows, sizeRow, (node, row) => {
      const [name, ...cells] = node.children as unknown as [HTMLElement, ...HTMLElement[]];
      showName(name, row, view);
      showCells(node, cells, row, bounds);
    });
  }

  #showMore(count: number, unlisted: number): void {
    const button = byId('size-all');
    button.hidden = count <= MOST_ROWS;
    setAttribute(button, 'aria-pressed', String(this.#isShowingAll));
    const unknown = unlisted === 0 ? '' : `; serve lists no more, ${unlisted} are left out`;
    setText(button, `Show all ${plural(count, 'agent')}${unknown}`);
  }
}

/** An answer is due every five seconds. */
const OLD_MS = 15_000;

function windowText({ answer: { recentMs }, ageMs = 0 }: SizeCardInput): string {
  const window = recentMs >= 60_000 ? 'last minute' : `last ${spanText(recentMs)}`;
  return ageMs < OLD_MS ? window : `${window}, ${spanText(ageMs)} old`;
}

function sizeRow(): HTMLElement {
  return element('tr', {}, element('th', { scope: 'row' }, element('a', {}, element('bdi'))));
}

function showName(place: HTMLElement, { name }: SizeRow, view: ViewState): void {
  const link = place.firstElementChild!;
  setText(link.firstElementChild!, name);
  setAttribute(link, 'href', hashOf({ ...view, agent: name }));
  setAttribute(link, 'title', name);
  if (name === view.agent) setAttribute(link, 'aria-current', 'true');
  else link.removeAttribute('aria-current');
}

function showCells(node: HTMLElement, cells: HTMLElement[], row: SizeRow, bounds: readonly number[]): void {
  const count = bounds.length + 3;
  while (cells.length > count) cells.pop()!.remove();
  while (cells.length < count) {
    const cell = element('td', {}, figurePlace(), element('span', { class: 'unseen' }));
    cells.push(cell);
    node.append(cell);
  }
  bounds.forEach((bound, i) => showClass(cells[i]!, row.cells.get(bound)));
  [row.base, { figure: row.posting }, row.rate].forEach((part, i) => showPart(cells[bounds.length + i]!, part));
}

function showClass(place: HTMLElement, cell: SizeCell | undefined): void {
  const shade = cell === undefined ? 'none' : cell.few !== '' ? 'few' : `slow${cell.slowness}`;
  setAttribute(place, 'class', `class ${shade}`);
  setFigure(place.firstElementChild!, cell?.figure ?? NOTHING);
  setAttribute(place, 'title', cell?.title ?? '');
  setText(place.lastElementChild!, cell === undefined || cell.few === '' ? '' : `, ${cell.few}`);
}

const NOTHING: Figure = { value: '', unit: '' };

export function showPart(place: HTMLElement, part: FigureOrWords): void {
  setAttribute(place, 'class', 'figure' in part ? 'part' : 'part soft');
  setFigure(place.firstElementChild!, 'figure' in part ? part.figure : { value: part.words, unit: '' });
}
